"""kill -9 of the service under load, again and again: is every acknowledged check in the database, once?

    python -m bench.kill_ledger --rounds 100
    python -m bench.kill_ledger --rounds 20 --acknowledge-first     the control, which must lose records

32 clients note every check whose reply they have read whole. After a random moment the service is killed and started
again on the same data. At the end the ledger is held against Postgres. Exit code 0 if nothing is missing and nothing is
there twice (for the control: if it lost records, or the bench would show nothing).
"""

import argparse
import asyncio
import json
import random
import sys
import tempfile
import time
from pathlib import Path

from app.store.embedded_postgres import EmbeddedPostgres
from bench.faults.stored import answered_ids, connected
from bench.load import Outcome, closed_loop
from bench.service import SCRIPTED, Service, service

CLIENTS = 32
LOAD_SECONDS = (0.2, 1.5)
DRAIN_SECONDS = 120.0


def main() -> int:
    wanted = _arguments()
    module = "bench.faults.ack_first" if wanted.acknowledge_first else "app"
    acknowledged: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        for number in range(wanted.rounds):
            with service(data, module, **SCRIPTED, SCRIPT_LATENCY_SECONDS="0.01") as running:
                asyncio.run(load_then_kill(running, acknowledged))
            if sys.stderr.isatty() or number % 10 == 9:
                print(f"round {number + 1}: {len(acknowledged)} acknowledged", file=sys.stderr, flush=True)
        with service(data, **SCRIPTED) as running:
            wait_until_shipped(running)
            lost, damaged = (
                running.metric("booking_spool_lost_total"),
                running.metric("booking_spool_damaged_bytes_total"),
            )
        found = stored(data)
    missing = set(acknowledged) - set(found["ids"])
    print(
        f"rounds {wanted.rounds}   acknowledged {len(acknowledged)}   missing {len(missing)}   "
        f"stored twice {found['twice']}   gaps in a boot's numbers {found['gaps']}   "
        f"interrupted {found['interrupted']}   "
        f"lost by its own count {lost:.0f}   damaged bytes {damaged:.0f}"
    )
    if wanted.acknowledge_first:
        print("control: it must miss records, and it did" if missing else "control FAILED: it missed nothing")
        return 0 if missing else 1
    return 1 if missing or found["twice"] or len(acknowledged) != len(set(acknowledged)) else 0


async def load_then_kill(running: Service, acknowledged: list[str]) -> None:
    def note(outcome: Outcome) -> None:
        if outcome.is_answered:
            acknowledged.append(json.loads(outcome.body)["id"])

    load = asyncio.create_task(closed_loop(running.port, CLIENTS, lambda: running.process.poll() is not None, note))
    await asyncio.sleep(random.uniform(*LOAD_SECONDS))
    running.process.kill()
    running.process.wait()
    await load


def wait_until_shipped(running: Service) -> None:
    deadline = time.monotonic() + DRAIN_SECONDS
    while running.metric("booking_spool_bytes") > 0:
        if time.monotonic() > deadline:
            sys.exit("the spool does not drain")
        time.sleep(0.1)


def stored(data: Path) -> dict[str, object]:
    """What Postgres holds."""
    postgres = EmbeddedPostgres(data)
    url = postgres.start()
    try:
        with connected(url) as connection:
            ids = answered_ids(connection)
            places = connection.execute(
                "SELECT count(*) - count(DISTINCT (spool_boot, spool_sequence)) FROM consultations"
            ).fetchone()
            gaps = connection.execute(
                "SELECT coalesce(sum(most - written), 0) FROM (SELECT max(spool_sequence) AS most, count(*) AS written "
                "FROM consultations GROUP BY spool_boot) boots"
            ).fetchone()
            interrupted = connection.execute(
                "SELECT count(*) FROM consultations WHERE outcome = 'interrupted'"
            ).fetchone()
    finally:
        postgres.stop()
    assert places and gaps and interrupted
    twice = len(ids) - len(set(ids)) + int(places[0])
    return {"ids": ids, "twice": twice, "gaps": int(gaps[0]), "interrupted": interrupted[0]}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--acknowledge-first", action="store_true", help="the control")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
