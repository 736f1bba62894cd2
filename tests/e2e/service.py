"""Start the service as a user does, in a process of its own, and look at what it leaves behind."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx

# As it was before any test: an engine that a test starts in this process sets variables for vLLM.
ENVIRONMENT = dict(os.environ)
ROOT = Path(__file__).parent.parent.parent
SHARED_MEMORY = Path("/dev/shm")
MESSAGE = "I am 34 and would like the £2,400 course and the £150 check-up on 14 December 2027 at 10am."
IN_FLIGHT = 'booking_checks_in_flight{design="pipeline",enforcement="constrained"} 1.0'
CHECK = {"message": MESSAGE, "received_at": "2026-11-29T18:00:00Z"}


class Running:
    """A service process: its address, its log, its children."""

    def __init__(self, process: subprocess.Popen[bytes], port: int, log: Path) -> None:
        self.process = process
        self.log = log
        self.client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=120)

    def output(self) -> str:
        return self.log.read_text("utf-8", "replace")

    def wait_until_ready(self, seconds: float) -> None:
        def ready() -> bool:
            assert self.process.poll() is None, self.output()
            with suppress(httpx.TransportError):
                return self.client.get("/readyz").status_code == 200
            return False

        wait_until(ready, seconds, self.output)

    def parts(self) -> dict[str, str]:
        parts: dict[str, str] = self.client.get("/readyz").json()["parts"]
        return parts

    def children(self) -> dict[int, str]:
        """Every descendant: process id -> command line."""
        return {pid: command for pid, command in _descendants(self.process.pid)}

    def child(self, word: str) -> int:
        return next(pid for pid, command in self.children().items() if word in command)

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def ended(self, seconds: float = 60) -> int:
        return self.process.wait(seconds)


@contextmanager
def service(data_dir: Path, seconds: float = 60, code: Path = ROOT, **environment: str) -> Iterator[Running]:
    """A ready service; killed at the end if the test has not ended it. `code` is the folder that holds app/."""
    with started(data_dir, code, **environment) as running:
        running.wait_until_ready(seconds)
        yield running


@contextmanager
def started(data_dir: Path, code: Path = ROOT, **environment: str) -> Iterator[Running]:
    port = int(environment.pop("PORT", 0)) or free_port()
    data_dir.mkdir(parents=True, exist_ok=True)
    log = data_dir / f"service-{port}-{time.monotonic_ns()}.log"
    settings = {
        "PORT": str(port),
        "DATA_DIR": str(data_dir),
        "ENGINE": "scripted",
        "ALLOW_VOLATILE_SPOOL": "true",  # a developer's /tmp may be in memory
    } | environment
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "app"],
            cwd=code,
            env=ENVIRONMENT | settings,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    running = Running(process, port, log)
    try:
        yield running
    finally:
        running.client.close()
        left = running.children() if process.poll() is None else {}
        with suppress(ProcessLookupError):
            process.kill()
        process.wait()
        wait_until(lambda: not alive(left), 30, lambda: f"still running: {alive(left)}")


def wait_until(condition: Callable[[], Any], seconds: float, explain: Callable[[], str] = lambda: "") -> None:
    """Polls; the bound only ends a hopeless wait, no test depends on how long it takes."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s. {explain()}"
        time.sleep(0.05)


def alive(processes: dict[int, str]) -> dict[int, str]:
    return {pid: command for pid, command in processes.items() if _state(pid) not in ("", "Z")}


def shared_memory() -> set[str]:
    return {path.name for path in SHARED_MEMORY.iterdir()}


def engine_folders() -> set[str]:
    return {path.name for path in Path("/tmp").glob("booking-engine-*")}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _descendants(pid: int) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with suppress(OSError):
            stat = (entry / "stat").read_text()
            parent = int(re.split(r"\) ", stat)[-1].split()[1])
            if parent == pid:
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
                found.append((int(entry.name), command or stat))
                found.extend(_descendants(int(entry.name)))
    return found


def _state(pid: int) -> str:
    try:
        return re.split(r"\) ", Path(f"/proc/{pid}/stat").read_text())[-1].split()[0]
    except OSError:
        return ""


SIGNALS = {"SIGTERM": signal.SIGTERM, "SIGINT": signal.SIGINT}
