"""Load beyond what the service can do: is what it does do still done, and are the others told quickly?

    python -m bench.overload

A scripted engine that takes 0.1 s and 8 permits make 80 checks a second at most, far below what generator and machine
can do, so that it is the admission that is measured. The capacity is measured first, then requests arrive at fixed
moments, whatever becomes of those before, at 0.5, 1, 3 and 10 times of it.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path

from bench.load import Outcome, closed_loop, milliseconds, open_loop
from bench.service import SCRIPTED, service

SETTINGS = {"SCRIPT_LATENCY_SECONDS": "0.1", "MAX_IN_FLIGHT": "8", "MAX_QUEUED": "8", "MAX_WAIT_SECONDS": "1"}
FACTORS = (0.5, 1.0, 3.0, 10.0)


def main() -> int:
    seconds = _arguments().seconds
    with tempfile.TemporaryDirectory() as folder, service(Path(folder) / "data", **SCRIPTED, **SETTINGS) as running:
        capacity = asyncio.run(measured_capacity(running.port))
        print(f"capacity, closed loop of 8: {capacity:.0f} a second; memory {running.rss_mib():.0f} MiB")
        print(f"{'':6} {'offered/s':>9} {'done/s':>7} {'failed':>6}  {'done p50':>8} {'p99 ms':>7}  {'refused':>7} "
              f"{'p50 ms':>7} {'p99 ms':>7}  {'MiB':>5}")  # fmt: skip
        goodput: dict[float, float] = {}
        failed = 0
        for factor in FACTORS:
            outcomes = asyncio.run(open_loop(running.port, factor * capacity, seconds))
            done = [outcome.seconds for outcome in outcomes if outcome.is_answered]
            refused = [outcome.seconds for outcome in outcomes if outcome.is_refused]
            lost = len(outcomes) - len(done) - len(refused)
            goodput[factor] = len(done) / seconds
            failed += lost
            print(
                f"{factor:5.1f}x {len(outcomes) / seconds:9.0f} {goodput[factor]:7.1f} {lost:6}  "
                f"{milliseconds(done):>16}  {len(refused):7} {milliseconds(refused)}  {running.rss_mib():5.0f}"
            )
    share = goodput[FACTORS[-1]] / max(goodput.values())
    print(f"goodput at {FACTORS[-1]:g}x: {100 * share:.0f} % of its peak; not told to come back: {failed}")
    return 0 if share >= 0.9 and not failed else 1


async def measured_capacity(port: int, seconds: float = 5.0) -> float:
    outcomes: list[Outcome] = []
    end = time.monotonic() + seconds
    await closed_loop(port, 8, lambda: time.monotonic() > end, outcomes.append)
    return sum(outcome.is_answered for outcome in outcomes) / seconds


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20.0, help="of each step")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
