"""Clients that hang up at any moment: does the engine go on working for nobody?

    python -m bench.disconnects --count 1000

With the small real engine. In waves of 16, each client leaves after a random part of a second; 250 ms after the last
has left, vLLM may have no request that runs or waits, and every check that had begun must have its record.
"""

import argparse
import asyncio
import json
import random
import re
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import httpx

from bench.load import BODY
from bench.service import Service, service

WAVE = 16
GRACE_SECONDS = 0.25
LONGEST_SECONDS = 1.0
SETTINGS = {"ENGINE": "vllm", "MODEL": "smollm2-135m-instruct", "LOG_LEVEL": "warning", "ALLOW_VOLATILE_SPOOL": "true"}
UNFINISHED = ("vllm:num_requests_running", "vllm:num_requests_waiting")


def main() -> int:
    count = _arguments().count
    with tempfile.TemporaryDirectory() as folder, service(Path(folder) / "data", **SETTINGS) as running:
        return asyncio.run(measure(running, count))


async def measure(running: Service, count: int) -> int:
    late = left = slowest = 0.0
    async with httpx.AsyncClient(base_url=running.url, timeout=30) as client:
        for wave in range(0, count, WAVE):
            await asyncio.gather(*(hang_up(running.port) for _ in range(min(WAVE, count - wave))))
            gone = time.monotonic()
            await asyncio.sleep(GRACE_SECONDS)
            unfinished = await engine_work(client)
            late += unfinished
            while unfinished:
                unfinished = await engine_work(client)
                slowest = max(slowest, time.monotonic() - gone)
            left += min(WAVE, count - wave)
        text = (await client.get("/metrics")).text
    outcomes = {
        outcome: sum(
            float(value) for value in re.findall(rf'booking_checks_total{{[^}}]*outcome="{outcome}"}} (\S+)', text)
        )
        for outcome in ("cancelled", "completed", "invalid_output", "failed", "timed_out", "refused")
    }
    in_flight = sum(float(value) for value in re.findall(r"^booking_checks_in_flight\{[^}]*\} (\S+)$", text, re.M))
    print(
        f"disconnects {left:.0f}   unfinished engine requests after {1000 * GRACE_SECONDS:.0f} ms {late:.0f} "
        f"(slowest {1000 * slowest:.0f} ms)   checks still in flight {in_flight:.0f}   records by outcome "
        + ", ".join(f"{outcome} {number:.0f}" for outcome, number in outcomes.items() if number)
    )
    return 1 if late or in_flight or outcomes["failed"] else 0


async def hang_up(port: int) -> None:
    """At any moment: before the body is whole, while the check waits or works, or after its answer."""
    body = json.dumps(BODY).encode()
    request = (
        "POST /consultations/check HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    ).encode() + body
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    part = random.choice((len(request), len(request), len(request), random.randrange(1, len(request))))
    writer.write(request[:part])
    with suppress(OSError):
        await writer.drain()
    await asyncio.sleep(random.uniform(0, LONGEST_SECONDS))
    writer.transport.abort() if random.random() < 0.5 else writer.close()


async def engine_work(client: httpx.AsyncClient) -> float:
    text = (await client.get("/metrics")).text
    return sum(
        float(line.rpartition(" ")[2])
        for line in text.splitlines()
        if line.startswith(tuple(f"{n}{{" for n in UNFINISHED))
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
