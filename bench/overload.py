"""Load beyond what the service can do: is what it does do still done, and are the others told quickly?

    python -m bench.overload

A scripted engine that takes 0.1 s and 8 permits make 80 checks a second at most, far below what generator and machine
can do, so that it is the admission that is measured. The capacity is measured first, then requests arrive at fixed
moments, whatever becomes of those before, at 0.5, 1, 3 and 10 times of it. The generator's own use of a core is
printed: beside it, the figures mean nothing from 0.8 on.
"""

import argparse
import asyncio
import json
import math
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.load import Outcome, closed_loop, open_loop, percentile
from bench.service import SCRIPTED, Service, service

SETTINGS = {"SCRIPT_LATENCY_SECONDS": "0.1", "MAX_IN_FLIGHT": "8", "MAX_QUEUED": "8", "MAX_WAIT_SECONDS": "1"}
FACTORS = (0.5, 1.0, 3.0, 10.0)
CLIENTS = 16
"""As many as permits and queue: with fewer a permit is free while a reply travels, and 10x is less than it says."""

GENERATOR_CORES = 0.8
GOODPUT = "goodput at 10x, of its peak"


@dataclass(frozen=True)
class Step:
    """What became of the requests of one factor; times in milliseconds from the moment each was due."""

    factor: float
    offered_a_second: float
    done_a_second: float
    failed: int
    """Neither answered nor told to come back."""
    refused: int
    done_p50: float
    done_p99: float
    refused_p50: float
    refused_p99: float
    rss_mib: float
    generator_cores: float
    """Near 1 the generator is what is measured."""


def main() -> int:
    arguments = _arguments()
    with tempfile.TemporaryDirectory() as folder, service(Path(folder) / "data", **SCRIPTED, **SETTINGS) as running:
        capacity = asyncio.run(measured_capacity(running.port))
        rss_mib = running.rss_mib()
        print(f"capacity, closed loop of {CLIENTS}: {capacity:.0f} a second; memory {rss_mib:.0f} MiB")
        print(f"{'':6} {'offered/s':>9} {'done/s':>7} {'failed':>6}  {'done p50':>8} {'p99 ms':>7}  {'refused':>7} "
              f"{'p50 ms':>7} {'p99 ms':>7}  {'MiB':>5}  {'generator':>9}")  # fmt: skip
        steps = [step(running, factor, capacity, arguments.seconds) for factor in FACTORS]
    ratios = compared(steps, rss_mib)
    print("\n".join(f"{name:52} {value:.2f}" for name, value in ratios.items()))
    if arguments.json:
        figures = {"capacity_a_second": capacity, "steps": [plain(each) for each in steps], "ratios": ratios}
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n")
    is_honest = all(each.generator_cores < GENERATOR_CORES for each in steps)
    return 0 if ratios[GOODPUT] >= 0.9 and is_honest and not any(each.failed for each in steps) else 1


def step(running: Service, factor: float, capacity: float, seconds: float) -> Step:
    cpu = time.process_time()
    outcomes = asyncio.run(open_loop(running.port, factor * capacity, seconds))
    cpu = time.process_time() - cpu
    done = [1000 * outcome.seconds for outcome in outcomes if outcome.is_answered]
    refused = [1000 * outcome.seconds for outcome in outcomes if outcome.is_refused]
    found = Step(
        factor=factor,
        offered_a_second=len(outcomes) / seconds,
        done_a_second=len(done) / seconds,
        failed=len(outcomes) - len(done) - len(refused),
        refused=len(refused),
        done_p50=percentile(done, 0.5),
        done_p99=percentile(done, 0.99),
        refused_p50=percentile(refused, 0.5),
        refused_p99=percentile(refused, 0.99),
        rss_mib=running.rss_mib(),
        generator_cores=cpu / seconds,
    )
    print(
        f"{found.factor:5.1f}x {found.offered_a_second:9.0f} {found.done_a_second:7.1f} {found.failed:6}  "
        f"{found.done_p50:8.1f} {found.done_p99:7.1f}  {found.refused:7} {found.refused_p50:7.1f} "
        f"{found.refused_p99:7.1f}  {found.rss_mib:5.0f}  {found.generator_cores:9.2f}"
    )
    return found


def plain(found: Step) -> dict[str, float | None]:
    """JSON has no nan."""
    return {name: None if math.isnan(value) else value for name, value in asdict(found).items()}


def compared(steps: list[Step], rss_mib: float) -> dict[str, float]:
    at_capacity, most = next(each for each in steps if each.factor == 1), steps[-1]
    return {
        GOODPUT: most.done_a_second / max(each.done_a_second for each in steps),
        "p99 of the done at 10x, of that at 1x": most.done_p99 / at_capacity.done_p99,
        "memory at the end, of that before": most.rss_mib / rss_mib,
    }


async def measured_capacity(port: int, seconds: float = 5.0) -> float:
    outcomes: list[Outcome] = []
    end = time.monotonic() + seconds
    await closed_loop(port, CLIENTS, lambda: time.monotonic() > end, outcomes.append)
    return sum(outcome.is_answered for outcome in outcomes) / seconds


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20.0, help="of each step")
    parser.add_argument("--json", type=Path, help="write the figures here")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
