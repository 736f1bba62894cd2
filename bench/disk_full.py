"""A disk that is full, a tail that is torn, a spool of another version: is anything answered without a record?

    python -m bench.disk_full

Needs root, to mount a disk of 48 MiB in memory for the spool. The database is away meanwhile, so that the spool fills.
"""

import asyncio
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from app.store.embedded_postgres import EmbeddedPostgres
from bench.faults.postgres_proxy import PostgresProxy
from bench.faults.stored import answered_ids, connected
from bench.load import Outcome, closed_loop
from bench.service import SCRIPTED, Service, free_port, service_beside

DISK_MIB = 48
LOAD_SECONDS = 60.0


async def measure(folder: Path) -> int:
    postgres = EmbeddedPostgres(folder / "postgres")
    url = postgres.start()
    port = free_port()
    proxy = PostgresProxy(str(next(folder.rglob(".s.PGSQL.5432"))), port)
    await proxy.switch("pass")
    settings = SCRIPTED | {
        "DATABASE_URL": f"postgresql://postgres@127.0.0.1:{port}/booking",
        "SPOOL_DIR": str(folder / "disk" / "spool"),
    }
    try:
        wrong = await full_disk(folder / "data", settings, proxy, url)
        return 1 if wrong + await broken_spools(folder, settings, url) else 0
    finally:
        await proxy.switch("refuse")
        postgres.stop()


async def full_disk(data: Path, settings: dict[str, str], proxy: PostgresProxy, url: str) -> int:
    outcomes: list[Outcome] = []
    async with service_beside(data, **settings) as running:
        await proxy.switch("refuse")
        end = time.monotonic() + LOAD_SECONDS
        enough = 200

        def is_over() -> bool:
            return time.monotonic() > end or sum(outcome.is_refused for outcome in outcomes) > enough

        await closed_loop(running.port, 32, is_over, outcomes.append)
        await proxy.switch("pass")
        back = time.monotonic()
        while not await _answers(running):
            await asyncio.sleep(0.1)
        seconds = time.monotonic() - back
        while await asyncio.to_thread(running.metric, "booking_spool_bytes") > 0:
            await asyncio.sleep(0.1)
        lost = await asyncio.to_thread(running.metric, "booking_spool_lost_total")
    answered = [json.loads(outcome.body)["id"] for outcome in outcomes if outcome.is_answered]
    refused = sum(outcome.is_refused for outcome in outcomes)
    other = len(outcomes) - len(answered) - refused
    missing = len(set(answered) - _stored(url))
    print(
        f"disk full: answered {len(answered)}   of these without record {missing}   "
        f"refused with Retry-After {refused}   anything else {other}   lost {lost:.0f}   "
        f"answers again after {seconds:.1f} s"
    )
    return missing + other + (0 if refused else 1) + int(lost)


async def broken_spools(folder: Path, settings: dict[str, str], url: str) -> int:
    """A killed service's spool with garbage behind its last record, and beside it one of a version nobody knows."""
    spool = Path(settings["SPOOL_DIR"])
    answered: list[str] = []

    def note(outcome: Outcome) -> None:
        if outcome.is_answered:
            answered.append(json.loads(outcome.body)["id"])

    async with service_beside(folder / "data", **(settings | {"SPOOL_MAX_MIB": "40"})) as running:
        end = time.monotonic() + 2
        await closed_loop(running.port, 32, lambda: time.monotonic() > end, note)
        running.kill()
    left = next(path for path in spool.iterdir() if path.is_dir() and list(path.glob("*.seg")))
    segment = max(left.glob("*.seg"))
    whole = segment.read_bytes().rstrip(b"\0")
    segment.write_bytes(whole + whole[-200:-50] + b"\xff" * 300)
    old = spool / "01000000000070008000000000000000"
    shutil.copytree(left, old)
    for path in old.glob("*.seg"):
        path.write_bytes(path.read_bytes()[:14] + b"\x63\x00" + path.read_bytes()[16:])
    async with service_beside(folder / "data", **settings) as running:
        while await asyncio.to_thread(running.metric, "booking_spool_bytes") > 0:
            await asyncio.sleep(0.1)
    missing = len(set(answered) - _stored(url))
    kept = sum(1 for _ in old.glob("*.seg"))
    print(
        f"torn tail: answered {len(answered)}   of these without record {missing}   "
        f"segments of an unknown version that are still there {kept}"
    )
    return missing + (0 if kept else 1)


async def _answers(running: Service) -> bool:
    outcomes: list[Outcome] = []
    await closed_loop(running.port, 1, lambda: bool(outcomes), outcomes.append)
    return outcomes[0].is_answered


def _stored(url: str) -> set[str]:
    with connected(url) as connection:
        return set(answered_ids(connection))


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "disk").mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MIB}m", "tmpfs", str(folder / "disk")]
        if subprocess.run(mount, check=False).returncode:
            sys.exit("a small disk cannot be mounted here: run this as root, where mounting is allowed")
        try:
            return asyncio.run(measure(folder))
        finally:
            subprocess.run(["umount", str(folder / "disk")], check=True)


if __name__ == "__main__":
    sys.exit(main())
