"""The chosen CPU settings against vLLM's own with bfloat16 weights: the same ten messages over HTTP, in one run.

    make bench

Prints checks a minute with ten at once, seconds for one check alone, and their ratios. Starts one service after the
other; nothing else should be running. Results: docs/results/cpu-settings.md.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

MESSAGES = (
    "Hello, I'm 34 and I'd like the £2,400 course on Tuesday 8 December 2026 at 10am.",
    "I am 52. £900 for the scan and £1,200 for the treatment, 2026-12-10 at 14:30 please.",
    "Age 71, the £420 scan, Monday 14 December 2026 at 3pm.",
    "I'm 16, it's £2,400, Thursday 10 December 2026 at 11am.",
    "I'm 45: £6,500 for the implants plus £4,250 for sedation, 15 January 2027 at 9am.",
    "I am 60 and the programme is £12,500. 20 January 2027 at 1pm would suit me.",
    "I'd like the £300 session.",
    "I'm 29, it's £310, Friday 11 December 2026 at 3pm.",
    "I am 41. £150 and £250, 9 December 2026 at 16:30.",
    "I'm 22, £75, 2026-12-05 at 11:00, thank you!",
)
PORT = 8765
BASE = f"http://127.0.0.1:{PORT}"
START_SECONDS = 1800
CHECK_SECONDS = 3600
ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Measured:
    start_seconds: float
    alone_seconds: float
    ten_seconds: float
    completion_tokens: int
    actions: tuple[str, ...]

    @property
    def checks_a_minute(self) -> float:
        return len(MESSAGES) * 60 / self.ten_seconds


def main() -> None:
    measured = {profile: measure(profile) for profile in ("vllm-defaults", "tuned")}
    for profile, figures in measured.items():
        print(
            f"{profile:14} start {figures.start_seconds:6.1f} s   one check alone {figures.alone_seconds:6.1f} s   "
            f"ten at once {figures.ten_seconds:6.1f} s   {figures.checks_a_minute:6.2f} checks/min   "
            f"{figures.completion_tokens} tokens written"
        )
        print(f"{'':14} {' '.join(figures.actions)}")
    theirs, ours = measured["vllm-defaults"], measured["tuned"]
    print(
        f"ratio: {ours.checks_a_minute / theirs.checks_a_minute:.2f} x the checks a minute, "
        f"{theirs.alone_seconds / ours.alone_seconds:.2f} x quicker alone"
    )


def measure(profile: str) -> Measured:
    print(f"measuring {profile} ...", file=sys.stderr, flush=True)
    with service(profile) as start_seconds:
        post(MESSAGES[0])  # fills the prefix cache, as any later check finds it
        began = time.perf_counter()
        post(MESSAGES[1])
        alone = time.perf_counter() - began
        began = time.perf_counter()
        answers = asyncio.run(post_all())
        ten = time.perf_counter() - began
    return Measured(
        start_seconds=start_seconds,
        alone_seconds=alone,
        ten_seconds=ten,
        completion_tokens=sum(answer["usage"]["completion_tokens"] for answer in answers),
        actions=tuple(answer["action"] for answer in answers),
    )


def post(message: str) -> dict[str, object]:
    answer = httpx.post(f"{BASE}/consultations/check", json=body(message), timeout=CHECK_SECONDS)
    answer.raise_for_status()
    return dict(answer.json())


async def post_all() -> list[dict[str, dict[str, int]]]:
    async with httpx.AsyncClient(base_url=BASE, timeout=CHECK_SECONDS) as client:
        answers = await asyncio.gather(*[client.post("/consultations/check", json=body(m)) for m in MESSAGES])
    return [json.loads(answer.raise_for_status().content) for answer in answers]


def body(message: str) -> dict[str, object]:
    return {"message": message, "received_at": "2026-11-29T18:00:00Z", "sampling": {"seed": 7}}


@contextmanager
def service(profile: str) -> Iterator[float]:
    """Seconds from the command to ready, with the weights already converted."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)  # as root, Postgres runs as somebody else
        settings = {
            "ENGINE_PROFILE": profile,
            "PORT": str(PORT),
            "DATA_DIR": f"{folder}/data",
            "CHECK_TIMEOUT_SECONDS": str(CHECK_SECONDS),
            "NARRATION_TIMEOUT_SECONDS": str(CHECK_SECONDS),
        }
        began = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "app"], cwd=ROOT, env=os.environ | settings, stdout=sys.stderr
        )
        try:
            wait_until_ready(process)
            yield time.perf_counter() - began
        finally:
            process.terminate()
            process.wait(120)


def wait_until_ready(process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            sys.exit("the service did not start; see above")
        try:
            if httpx.get(f"{BASE}/readyz", timeout=5).status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.2)
    sys.exit(f"the service was not ready within {START_SECONDS} s")


if __name__ == "__main__":
    main()
