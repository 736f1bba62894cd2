"""The processes and shared memory of an engine, seen from outside."""

import contextlib
import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path

GRACE_SECONDS = 5.0


def descendants(roots: set[int] | None = None) -> set[int]:
    """Process ids of `roots` and all their children; without roots, of every child of this process.

    Without Python's resource tracker: it ends by itself after us, and then removes what the others left.
    """
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, IndexError, ValueError):
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                if b"resource_tracker" in (entry / "cmdline").read_bytes():
                    continue
                children.setdefault(parent, []).append(int(entry.name))
    found: set[int] = set(roots or ())
    waiting = [os.getpid()] if roots is None else list(roots)
    while waiting:
        new = children.get(waiting.pop(), [])
        found.update(new)
        waiting.extend(new)
    return found


def are_stopped(pids: set[int]) -> bool:
    """One of them is halted by a signal or a debugger."""
    return any(_field(pid, 0) in ("T", "t") for pid in pids)


def cpu_seconds(pids: set[int]) -> float:
    """What they have used together; those that are gone count nothing."""
    ticks = sum(int(_field(pid, number) or 0) for pid in pids for number in (11, 12))
    return ticks / os.sysconf("SC_CLK_TCK")


def end_processes(pids: set[int], ending: Sequence[int] = (signal.SIGTERM, signal.SIGKILL)) -> None:
    """One signal after the other, with a grace for what is left; returns when none is alive."""
    for signal_number in ending:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal_number)
        deadline = time.monotonic() + GRACE_SECONDS
        while any(_alive(pid) for pid in pids) and time.monotonic() < deadline:
            time.sleep(0.05)


def _alive(pid: int) -> bool:
    return _field(pid, 0) not in ("", "Z")


def _field(pid: int, number: int) -> str:
    """Of /proc/PID/stat behind the name; empty once the process is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[number]
    except (OSError, IndexError):
        return ""
