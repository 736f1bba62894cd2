"""The real engine's processes stopped and killed, idle and at work: who waits for ever, and when is it back?

    python -m bench.engine_chaos

With the small model, and hostile values of sampling first. Exit code 0 if no check hung past its deadline, no process,
shared memory or socket folder of a lost engine was left, and the service came back each time.
"""

import asyncio
import json
import os
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import httpx

from bench.load import BODY
from bench.service import Service, alive, service

SETTINGS = {"ENGINE": "vllm", "MODEL": "smollm2-135m-instruct", "LOG_LEVEL": "warning", "ALLOW_VOLATILE_SPOOL": "true"}
DEADLINE_SECONDS = 60.0
GRACE_SECONDS = 5.0
SHARED_MEMORY = Path("/dev/shm")
HOSTILE = (
    {"seed": True}, {"seed": -1}, {"seed": 2**31}, {"seed": 1.0}, {"seed": "1"}, {"seed": 10**40}, {"seed": None},
    {"temperature": -0.1}, {"temperature": 2.1}, {"temperature": "1"}, {"temperature": 1e309}, {"temperature": True},
    {"temperature": -0.0}, {"max_tokens": 9}, {"seed": 0, "temperature": 2.0},
    {"seed": 2**31 - 1, "temperature": 1e-308},
)  # fmt: skip


@dataclass(frozen=True)
class Seen:
    unready_seconds: float
    hung: int
    statuses: dict[int, int]
    orphans: int
    back_seconds: float


def main() -> int:
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        with service(Path(folder) / "data", **SETTINGS, CHECK_TIMEOUT_SECONDS=str(DEADLINE_SECONDS)) as running:
            print(f"start of the service with its engine: {time.monotonic() - began:.1f} s")
            bad += hostile(running)
            print(
                f"{'fault':22} {'unready s':>9} {'hung':>5} {'orphans':>7} {'back s':>7}  answers to checks in flight"
            )
            for name, number, part in (
                ("stopped, idle", signal.SIGSTOP, "VLLM"),
                ("stopped, at work", signal.SIGSTOP, "VLLM"),
                ("core killed, idle", signal.SIGKILL, "EngineCore"),
                ("core killed, at work", signal.SIGKILL, "EngineCore"),
                ("worker killed, at work", signal.SIGKILL, "Worker"),
            ):
                seen = asyncio.run(lose(running, number, part, checks=0 if "idle" in name else 8))
                bad += seen.hung + seen.orphans
                print(f"{name:22} {seen.unready_seconds:9.1f} {seen.hung:5} {seen.orphans:7} {seen.back_seconds:7.1f}  "
                      f"{seen.statuses}", flush=True)  # fmt: skip
            memory = {path.name for path in SHARED_MEMORY.iterdir()}
            family = running.descendants()
        time.sleep(GRACE_SECONDS)
    left = len(alive(family))
    leaked = {path.name for path in SHARED_MEMORY.iterdir()} & memory
    folders = list(Path(tempfile.gettempdir()).glob(f"booking-engine-*-{running.process.pid}"))
    print(f"after the stop: processes {left}, shared memory {len(leaked)}, socket folders {len(folders)}")
    return 1 if bad or left or leaked or folders else 0


def hostile(running: Service) -> int:
    """Values that have killed engines: refused or harmless, and the engine lives."""
    statuses: dict[int, int] = {}
    for sampling in HOSTILE:
        body = json.dumps(dict(BODY) | {"sampling": sampling})
        answer = httpx.post(f"{running.url}/consultations/check", content=body,
                            headers={"Content-Type": "application/json"}, timeout=120)  # fmt: skip
        statuses[answer.status_code] = statuses.get(answer.status_code, 0) + 1
    print(f"hostile sampling: {len(HOSTILE)} values, answers by status {statuses}, engine ready {running.is_ready()}")
    return 0 if set(statuses) <= {200, 422} and running.is_ready() else 1


async def lose(running: Service, number: signal.Signals, part: str, checks: int) -> Seen:
    engine = _engine(running, "VLLM")
    async with httpx.AsyncClient(base_url=running.url, timeout=DEADLINE_SECONDS + 10) as client:
        asked = [asyncio.create_task(_timed(client)) for _ in range(checks)]
        await asyncio.sleep(0.5)
        for pid in _engine(running, part):
            os.kill(pid, number)
        lost = time.monotonic()
        while (await client.get("/readyz")).status_code == 200:
            await asyncio.sleep(0.05)
        unready = time.monotonic() - lost
        answers = await asyncio.gather(*asked)
        await asyncio.sleep(GRACE_SECONDS)
        orphans = len(alive(engine))
        while (await client.get("/readyz")).status_code != 200:
            await asyncio.sleep(0.1)
        back = time.monotonic() - lost
        await _timed(client)
    statuses: dict[int, int] = {}
    for status, _ in answers:
        statuses[status] = statuses.get(status, 0) + 1
    hung = sum(seconds > DEADLINE_SECONDS + 1 or status == 0 for status, seconds in answers)
    return Seen(unready, hung, statuses, orphans, back)


async def _timed(client: httpx.AsyncClient) -> tuple[int, float]:
    began = time.monotonic()
    try:
        status = (await client.post("/consultations/check", json=dict(BODY))).status_code
    except httpx.TransportError:
        status = 0
    return status, time.monotonic() - began


def _engine(running: Service, part: str) -> set[int]:
    def is_it(pid: int) -> bool:
        try:
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            return False
        return b"VLLM" in command and part.encode() in command

    return {pid for pid in running.descendants() if is_it(pid)}


if __name__ == "__main__":
    sys.exit(main())
