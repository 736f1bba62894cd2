"""Clients that hang up at any moment: does the engine go on working for nobody, and is every check accounted for?

    python -m bench.disconnects --count 1000

With the small real engine. In waves of 16, each client leaves after a random part of a second. vLLM's gauges are those
of its last finished step: an engine in a long step shows none of its requests, an idle one may still show some. So the
witness is the engine's CPU time, with its polling off (bench/faults/no_spin.py): 250 ms after the last client of a wave
has left, it must be idle.
"""

import argparse
import asyncio
import json
import math
import random
import re
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from bench.load import BODY, percentile
from bench.service import Service, cpu_seconds, service

WAVE = 16
GRACE_SECONDS = 0.25
WATCH_SECONDS = 0.25
LONGEST_SECONDS = 1.0
IDLE_CORES = 0.1
"""An idle engine takes 0.02; 250 ms are 25 ticks of the clock that counts."""
WORKING_CORES = 0.5
"""Less than this while clients wait, and nothing was measured."""

SETTINGS = {"ENGINE": "vllm", "MODEL": "smollm2-135m-instruct", "LOG_LEVEL": "warning", "ALLOW_VOLATILE_SPOOL": "true"}
MODULE = "bench.faults.no_spin"
UNFINISHED = ("vllm:num_requests_running", "vllm:num_requests_waiting")
OUTCOMES = ("cancelled", "completed", "invalid_output", "failed", "timed_out", "refused")
Numbers = dict[str, float]


@dataclass
class Wave:
    working_cores: float
    """Used by the engine while clients waited."""
    after_cores: float
    """Used after the grace; nan where its processes are not ours to see."""
    unfinished: float
    """Requests on vLLM's gauges at the end of the grace."""
    in_flight: float

    @property
    def is_working(self) -> bool:
        """For nobody: every client has left."""
        return self.unfinished > 0 if math.isnan(self.after_cores) else self.after_cores > IDLE_CORES


def main() -> int:
    arguments = _arguments()
    if arguments.base_url:
        return asyncio.run(measure(arguments.base_url, None, arguments.count, arguments.json))
    with tempfile.TemporaryDirectory() as folder, service(Path(folder) / "data", MODULE, **SETTINGS) as running:
        return asyncio.run(measure(running.url, running, arguments.count, arguments.json))


async def measure(url: str, running: Service | None, count: int, file: Path | None) -> int:
    port = urlsplit(url).port or 80
    async with httpx.AsyncClient(base_url=url, timeout=30) as client:
        before = await numbers(client)
        if not any(name.startswith(UNFINISHED) for name in before):
            sys.exit("there is no vLLM behind this service: nothing would be measured")
        cpu = EngineCpu(running)
        ends: Counter[str] = Counter()
        waves = [await wave(client, cpu, port, min(WAVE, count - begun), ends) for begun in range(0, count, WAVE)]
        await asyncio.sleep(1)
        after = await numbers(client)
    figures = summary(waves, ends, {name: value - before.get(name, 0.0) for name, value in after.items()})
    print("\n".join(f"{name:44} {value:g}" for name, value in figures.items()))
    if file:
        file.write_text(json.dumps(figures, indent=1) + "\n")
    return 0 if holds(figures) else 1


async def wave(client: httpx.AsyncClient, cpu: "EngineCpu", port: int, size: int, ends: Counter[str]) -> Wave:
    cpu.lap()
    ends.update(await asyncio.gather(*(hang_up(port) for _ in range(size))))
    working = cpu.lap()
    await asyncio.sleep(GRACE_SECONDS)
    cpu.lap()
    shown = await numbers(client)
    await asyncio.sleep(WATCH_SECONDS)
    return Wave(working, cpu.lap(), total(shown, *UNFINISHED), total(shown, "booking_checks_in_flight"))


async def hang_up(port: int) -> str:
    """At any moment: before the body is whole, while the check waits or works, as its answer arrives."""
    body = json.dumps(BODY).encode()
    request = (
        "POST /consultations/check HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    ).encode() + body
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    part = random.choice((len(request), len(request), len(request), random.randrange(1, len(request))))
    writer.write(request[:part])
    status = b""
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(random.uniform(0, LONGEST_SECONDS)):
            status = await reader.read(12)
    writer.transport.abort() if random.random() < 0.5 else writer.close()
    if status:
        return f"answered {status[-3:].decode()}"
    return "hung up" if part == len(request) else "hung up in the request"


class EngineCpu:
    """CPU time of vLLM's processes, between two looks; nan for a service that somebody else started."""

    def __init__(self, running: Service | None) -> None:
        self._pids = [pid for pid in running.descendants() if b"VLLM" in _command(pid)] if running else []
        if running and not self._pids:
            sys.exit("vLLM's processes are not found: nothing would be measured")
        self._last = self._look()

    def lap(self) -> float:
        """Cores used since the last lap."""
        seconds, at = self._look()
        used, passed = seconds - self._last[0], at - self._last[1]
        self._last = seconds, at
        return used / passed if self._pids and passed else float("nan")

    def _look(self) -> tuple[float, float]:
        return sum(map(cpu_seconds, self._pids)), time.monotonic()


def _command(pid: int) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes() + Path(f"/proc/{pid}/comm").read_bytes()
    return b""


async def numbers(client: httpx.AsyncClient) -> Numbers:
    """Every series with its labels -> its value."""
    text = (await client.get("/metrics")).text
    return {name: float(value) for name, value in re.findall(r"^([a-z][^\n]*) (\S+)$", text, re.MULTILINE)}


def total(values: Numbers, *names: str, label: str = "") -> float:
    return sum(value for name, value in values.items() if name.partition("{")[0] in names and label in name)


def summary(waves: list[Wave], ends: Counter[str], changed: Numbers) -> dict[str, float]:
    after = [wave.after_cores for wave in waves]
    figures = {f"clients: {end}": float(number) for end, number in sorted(ends.items())}
    figures |= {
        "engine cores while clients waited, median": percentile([wave.working_cores for wave in waves], 0.5),
        "engine cores after the grace, median": percentile(after, 0.5),
        "engine cores after the grace, most": max(after),
        "waves": len(waves),
        "waves with an engine that works for nobody": sum(wave.is_working for wave in waves),
        "waves with a request on vLLM's gauges": sum(wave.unfinished > 0 for wave in waves),
        "waves with a check in flight": sum(wave.in_flight > 0 for wave in waves),
        "checks that began and ended": total(changed, "booking_checks_total"),
        "records written": total(changed, "booking_spool_written_total"),
        "records lost": total(changed, "booking_spool_lost_total"),
    }
    for outcome in OUTCOMES:
        figures[f"records: {outcome}"] = total(changed, "booking_checks_total", label=f'outcome="{outcome}"')
    return figures


def holds(figures: dict[str, float]) -> bool:
    began = figures["checks that began and ended"]
    asked = sum(n for name, n in figures.items() if name == "clients: hung up" or name.startswith("clients: answered"))
    is_idle = not (figures["waves with an engine that works for nobody"] or figures["waves with a check in flight"])
    is_real = (
        not figures["engine cores while clients waited, median"] < WORKING_CORES and figures["records: cancelled"] > 0
    )
    is_whole = began == figures["records written"] and began <= asked and not figures["records lost"]
    return is_idle and is_real and is_whole and not figures["records: failed"]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--base-url", help="a service on this machine that runs already; its engine's CPU is not seen")
    parser.add_argument("--json", type=Path, help="write the figures here")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
