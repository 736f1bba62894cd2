"""The service as a process of its own, for benches: started on a free port, looked at, stopped, killed."""

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx

ROOT = Path(__file__).parent.parent
SCRIPTED = {"ENGINE": "scripted", "NARRATION": "template", "LOG_LEVEL": "warning", "ALLOW_VOLATILE_SPOOL": "true"}
"""A service without a model: what is measured is everything else."""


@dataclass
class Service:
    process: subprocess.Popen[bytes]
    port: int
    log: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def is_ready(self) -> bool:
        with suppress(httpx.TransportError):
            return httpx.get(f"{self.url}/readyz", timeout=5).status_code == 200
        return False

    def wait_until_ready(self, seconds: float = 300) -> None:
        deadline = time.monotonic() + seconds
        while not self.is_ready():
            if self.process.poll() is not None or time.monotonic() > deadline:
                sys.exit(f"the service is not ready: {self.log.read_text(errors='replace')[-2000:]}")
            time.sleep(0.05)

    def metrics(self) -> str:
        return httpx.get(f"{self.url}/metrics", timeout=30).text

    def metric(self, name: str) -> float:
        """The sum over its labels; 0 if it is not there."""
        found = re.findall(rf"^{re.escape(name)}(?:\{{[^}}]*\}})? (\S+)$", self.metrics(), re.MULTILINE)
        return sum(map(float, found))

    def cpu_seconds(self) -> float:
        """Of the process itself, without its children."""
        return cpu_seconds(self.process.pid)

    def rss_mib(self) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(r"VmRSS:\s+(\d+)", status)
        return int(found[1]) / 1024 if found else 0.0

    def descendants(self) -> set[int]:
        return descendants(self.process.pid)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@contextmanager
def service(data_dir: Path, module: str = "app", port: int = 0, **settings: str) -> Iterator[Service]:
    """Ready when this yields; ended by SIGTERM afterwards, unless it has ended."""
    data_dir.mkdir(parents=True, exist_ok=True)
    data_dir.parent.chmod(0o755)  # as root, Postgres runs as somebody else
    started = start(data_dir, module, port, **settings)
    try:
        started.wait_until_ready()
        yield started
    finally:
        if started.process.poll() is None:
            started.process.terminate()
            with suppress(subprocess.TimeoutExpired):
                started.process.wait(60)
        started.kill()


@asynccontextmanager
async def service_beside(data_dir: Path, **settings: str) -> AsyncIterator[Service]:
    """The same from an event loop that has to go on meanwhile: the service asks it for its database."""
    context = service(data_dir, **settings)
    running = await asyncio.to_thread(context.__enter__)
    try:
        yield running
    finally:
        await asyncio.to_thread(context.__exit__, None, None, None)


def start(data_dir: Path, module: str = "app", port: int = 0, **settings: str) -> Service:
    port = port or free_port()
    log = data_dir / f"log-{port}-{time.monotonic_ns()}"
    environment = os.environ | {"PORT": str(port), "DATA_DIR": str(data_dir)} | settings
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", module],
            cwd=ROOT,
            env=environment,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    return Service(process, port, log)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def descendants(pid: int) -> set[int]:
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        with suppress(OSError, IndexError, ValueError):
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            children.setdefault(int(fields[1]), []).append(int(entry.name))
    found: set[int] = set()
    waiting = [pid]
    while waiting:
        new = children.get(waiting.pop(), [])
        found.update(new)
        waiting.extend(new)
    return found


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def alive(pids: set[int]) -> set[int]:
    def lives(pid: int) -> bool:
        with suppress(OSError, IndexError):
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        return False

    return {pid for pid in pids if lives(pid)}


def end(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)
