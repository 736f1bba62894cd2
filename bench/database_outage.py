"""The database stopped, killed, cut off or unreachable under load: does any request notice?

    python -m bench.database_outage --seconds 300
    python -m bench.database_outage --seconds 60 --faults stopped,reset

50 requests a second at fixed moments, undisturbed first, then once for each fault, which lasts the middle three fifths
of the run. Exit code 0 if no request failed and every answered check is in the database at the end.
"""

import argparse
import asyncio
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from app.store.embedded_postgres import EmbeddedPostgres
from bench.faults.postgres_proxy import Mode, PostgresProxy
from bench.faults.stored import answered_ids, connected
from bench.load import Outcome, open_loop, percentile
from bench.service import SCRIPTED, Service, free_port, service_beside

A_SECOND = 50.0
FAULTS = ("none", "stopped", "killed", "reset", "blackhole", "refuse")
DRAIN_SECONDS = 600.0

Act = Callable[[], Awaitable[None]]


@dataclass(frozen=True)
class Run:
    outcomes: list[Outcome]
    waiting: float
    """Records that were not in the database when it came back."""
    drained_seconds: float

    @property
    def failed(self) -> int:
        return sum(not outcome.is_answered for outcome in self.outcomes)

    def p(self, share: float) -> float:
        """Milliseconds."""
        return 1000 * percentile([outcome.seconds for outcome in self.outcomes], share)


async def measure(wanted: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        postgres = EmbeddedPostgres(Path(folder) / "postgres")
        url = postgres.start()
        found = next(Path(folder).rglob(".s.PGSQL.5432"))
        port = free_port()
        proxy = PostgresProxy(str(found), port)
        await proxy.switch("pass")
        failed = 0
        undisturbed: Run | None = None
        print(f"{'fault':10} {'requests':>8} {'failed':>6} {'p50 ms':>7} {'p99 ms':>7} {'p99 ratio':>9} "
              f"{'waiting':>7} {'drained s':>9} {'missing':>7} {'twice':>5}")  # fmt: skip
        settings = SCRIPTED | {
            "DATABASE_URL": f"postgresql://postgres@127.0.0.1:{port}/booking",
            "SCRIPT_LATENCY_SECONDS": "0.05",
        }
        try:
            for fault in wanted.faults.split(","):
                data = Path(folder) / f"data-{fault}"
                async with service_beside(data, **settings) as running:
                    run = await one(running, fault, wanted.seconds, proxy, postgres)
                undisturbed = undisturbed or run
                missing, twice = stored(url, run)
                failed += run.failed + missing + twice
                print(
                    f"{fault:10} {len(run.outcomes):8} {run.failed:6} {run.p(0.5):7.1f} {run.p(0.99):7.1f} "
                    f"{run.p(0.99) / undisturbed.p(0.99):9.2f} {run.waiting:7.0f} {run.drained_seconds:9.1f} "
                    f"{missing:7} {twice:5}",
                    flush=True,
                )
        finally:
            await proxy.switch("refuse")
            postgres.stop()
    return 1 if failed else 0


async def one(running: Service, fault: str, seconds: float, proxy: PostgresProxy, postgres: EmbeddedPostgres) -> Run:
    load = asyncio.create_task(open_loop(running.port, A_SECOND, seconds))
    await asyncio.sleep(seconds / 5)
    begin, end = acts(fault, proxy, postgres)
    await begin()
    await asyncio.sleep(3 * seconds / 5)
    text = await asyncio.to_thread(running.metrics)
    waiting = _value(text, "booking_spool_written_total") - _value(text, "booking_spool_shipped_total")
    await end()
    back = time.monotonic()
    outcomes, drained = await asyncio.gather(load, _drained(running))
    return Run(outcomes, waiting, drained - back)


async def _drained(running: Service) -> float:
    """The moment at which no more than the newest records wait."""
    deadline = time.monotonic() + DRAIN_SECONDS
    while time.monotonic() < deadline:
        text = await asyncio.to_thread(running.metrics)
        if _value(text, "booking_spool_oldest_unshipped_seconds") < 1.0:
            return time.monotonic()
        await asyncio.sleep(0.1)
    sys.exit("the spool does not drain")


def acts(fault: str, proxy: PostgresProxy, postgres: EmbeddedPostgres) -> tuple[Act, Act]:
    """How the fault begins and ends."""

    def sent(number: signal.Signals) -> Act:
        async def act() -> None:
            assert postgres.pid is not None
            for pid in [postgres.pid, *_backends(postgres.pid)]:
                os.kill(pid, number)

        return act

    def switched(mode: Mode) -> Act:
        return lambda: proxy.switch(mode)

    async def killed() -> None:
        assert postgres.pid is not None
        os.kill(postgres.pid, signal.SIGKILL)

    async def started() -> None:
        while not postgres.restart_if_dead():
            await asyncio.sleep(0.1)

    ways: dict[str, tuple[Act, Act]] = {
        "none": (switched("pass"), switched("pass")),
        "stopped": (sent(signal.SIGSTOP), sent(signal.SIGCONT)),
        "killed": (killed, started),
        "reset": (switched("reset"), switched("pass")),
        "blackhole": (switched("blackhole"), switched("pass")),
        "refuse": (switched("refuse"), switched("pass")),
    }
    return ways[fault]


def _backends(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _value(text: str, name: str) -> float:
    return float(next(line.rpartition(" ")[2] for line in text.splitlines() if line.startswith(f"{name} ")))


def stored(url: str, run: Run) -> tuple[int, int]:
    """How many answered checks are not there, and how many are there twice."""
    asked = {json.loads(outcome.body)["id"] for outcome in run.outcomes if outcome.is_answered}
    with connected(url) as connection:
        found = [check_id for check_id in answered_ids(connection) if check_id in asked]
    return len(asked) - len(set(found)), len(found) - len(set(found))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=300.0, help="of each run")
    parser.add_argument("--faults", default=",".join(FAULTS), help=f"out of {', '.join(FAULTS)}; none comes first")
    return asyncio.run(measure(parser.parse_args()))


if __name__ == "__main__":
    sys.exit(main())
