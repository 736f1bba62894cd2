"""What the service itself costs: CPU of a check with an engine that answers at once, durable log included.

    python -m bench.own_cost

Against a bare FastAPI echo of the same body, served by the same uvicorn, in the same run. CPU seconds are those of the
serving process alone. Nothing else should be running.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bench.load import Outcome, closed_loop, milliseconds
from bench.service import SCRIPTED, Service, service, start

CLIENTS = 32
WARM_SECONDS = 3.0


@dataclass(frozen=True)
class Cost:
    requests: int
    seconds: float
    cpu_seconds: float
    times: list[float]

    @property
    def cpu_milliseconds(self) -> float:
        return 1000 * self.cpu_seconds / self.requests

    @property
    def a_second_and_core(self) -> float:
        return self.requests / self.cpu_seconds

    def line(self, name: str) -> str:
        return (
            f"{name:28} {self.requests:8} {self.requests / self.seconds:8.0f} {self.cpu_milliseconds:8.3f} "
            f"{self.a_second_and_core:8.0f}  {milliseconds(self.times)}"
        )


def main() -> int:
    seconds = _arguments().seconds
    with tempfile.TemporaryDirectory() as folder:
        echo_service = start(Path(folder), "bench.faults.echo")
        try:
            time.sleep(2)
            echo = asyncio.run(measure(echo_service, seconds))
        finally:
            echo_service.process.terminate()
            echo_service.process.wait()
        with service(Path(folder) / "data", **SCRIPTED, MAX_IN_FLIGHT="64") as running:
            checks = asyncio.run(measure(running, seconds))
    print(f"{'':28} {'requests':>8} {'a second':>8} {'CPU ms':>8} {'/s core':>8}  {'p50 ms':>7} {'p99 ms':>7}")
    print(echo.line("bare FastAPI echo"))
    print(checks.line("check, durable, null engine"))
    print(f"ratio of CPU a request: {checks.cpu_milliseconds / echo.cpu_milliseconds:.1f}")
    return 0


async def measure(running: Service, seconds: float) -> Cost:
    await closed_loop(running.port, CLIENTS, _after(WARM_SECONDS), lambda outcome: None)
    outcomes: list[Outcome] = []
    cpu, began = running.cpu_seconds(), time.monotonic()
    await closed_loop(running.port, CLIENTS, _after(seconds), outcomes.append)
    took = time.monotonic() - began
    if any(not outcome.is_answered for outcome in outcomes):
        sys.exit("not every request was answered: the figures would mean nothing")
    return Cost(len(outcomes), took, running.cpu_seconds() - cpu, [outcome.seconds for outcome in outcomes])


def _after(seconds: float):  # type: ignore[no-untyped-def]
    end = time.monotonic() + seconds
    return lambda: time.monotonic() > end


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=30.0)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
