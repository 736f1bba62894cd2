"""SIGTERM, and Ctrl-C to the whole process group, with 32 checks in flight: does any of them fail?

    python -m bench.drain --rounds 20

Signals alternate. After each, newcomers keep asking on new connections: they get an answer or a 503 for as long as the
socket is open. Exit code 0 if no check in flight failed, every exit code was 0 and nothing was left.
"""

import argparse
import asyncio
import json
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

from bench.load import BODY, Connection, Outcome, Pool
from bench.service import SCRIPTED, Service, alive, service

IN_FLIGHT = 32
SETTINGS = {"SCRIPT_LATENCY_SECONDS": "1.0", "MAX_IN_FLIGHT": "32"}


def main() -> int:
    rounds = _arguments().rounds
    failed = asked = bad_exits = orphans = unshipped = 0
    newcomers: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        for number in range(rounds):
            with service(data, **SCRIPTED, **SETTINGS) as running:
                family = running.descendants()
                outcomes, told = asyncio.run(drained(running, by_group=number % 2 == 1))
                bad_exits += running.process.wait(60) != 0
                asked += len(outcomes)
                failed += sum(not outcome.is_answered for outcome in outcomes)
                for word in told:
                    newcomers[word] = newcomers.get(word, 0) + 1
                time.sleep(0.5)
                orphans += len(alive(family))
                unshipped += sum(1 for path in (data / "spool").iterdir() if path.is_dir())
    print(
        f"rounds {rounds}   in flight {asked}   failed {failed}   exit codes other than 0: {bad_exits}   "
        f"processes left {orphans}   spools left {unshipped}   newcomers {newcomers}"
    )
    return 1 if failed or bad_exits or orphans or unshipped else 0


async def drained(running: Service, *, by_group: bool) -> tuple[list[Outcome], list[str]]:
    """The checks in flight, and what newcomers were told until the socket closed."""
    pool = Pool(running.port)
    body = json.dumps(BODY).encode()
    tasks = [asyncio.create_task(pool.post(body, time.monotonic())) for _ in range(IN_FLIGHT)]
    while await asyncio.to_thread(running.metric, "booking_checks_in_flight") < IN_FLIGHT:
        await asyncio.sleep(0.02)
    if by_group:
        os.killpg(running.process.pid, signal.SIGINT)
    else:
        running.process.send_signal(signal.SIGTERM)
    told: list[str] = []
    while running.process.poll() is None:
        told.append(await newcomer(running.port, body))
        await asyncio.sleep(0.05)
    return list(await asyncio.gather(*tasks)), told


async def newcomer(port: int, body: bytes) -> str:
    connection = Connection(port)
    try:
        status, _, _ = await connection.post(body)
        return str(status)
    except ConnectionRefusedError:
        return "socket closed"
    except (OSError, asyncio.IncompleteReadError):
        return "cut off"
    finally:
        connection.close()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
