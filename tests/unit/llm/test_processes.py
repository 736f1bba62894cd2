"""An engine's processes and shared memory, seen from outside."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from multiprocessing import resource_tracker
from pathlib import Path

import pytest

from app.llm.vllm_engine.processes import descendants, end_processes

WITH_A_CHILD = """
import subprocess
child = subprocess.Popen(["sleep", "600"])
print(child.pid, flush=True)
child.wait()
"""
DEAF = """
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("deaf", flush=True)
signal.pause()
"""


@pytest.fixture
def started() -> Iterator[list[subprocess.Popen[str]]]:
    """Processes of this test; what is left of them ends with it."""
    processes: list[subprocess.Popen[str]] = []
    yield processes
    for process in processes:
        process.kill()
        process.communicate()


def run(code: str) -> tuple[subprocess.Popen[str], str]:
    """A child that runs `code`, and the first line it says."""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def test_children_and_their_children_are_descendants(started: list[subprocess.Popen[str]]) -> None:
    child, said = run(WITH_A_CHILD)
    started.append(child)
    grandchild = int(said)

    found = descendants()
    os.kill(grandchild, signal.SIGKILL)

    assert {child.pid, grandchild} <= found
    assert os.getpid() not in found and os.getppid() not in found


def test_a_child_that_has_ended_is_no_descendant() -> None:
    child = subprocess.Popen(["true"])
    child.wait()

    assert child.pid not in descendants()


def test_pythons_resource_tracker_is_no_descendant() -> None:
    resource_tracker.ensure_running()

    tracker = resource_tracker._resource_tracker._pid  # type: ignore[attr-defined]

    assert Path(f"/proc/{tracker}").exists()
    assert tracker not in descendants()


def test_a_process_that_listens_is_asked_to_end(started: list[subprocess.Popen[str]]) -> None:
    child = subprocess.Popen(["sleep", "600"], text=True)
    started.append(child)

    end_processes({child.pid})

    assert child.wait() == -signal.SIGTERM


def test_a_process_that_ignores_the_request_is_killed(started: list[subprocess.Popen[str]]) -> None:
    child, said = run(DEAF)
    started.append(child)
    assert said == "deaf"

    end_processes({child.pid})

    assert child.poll() == -signal.SIGKILL


def test_a_stopped_process_is_killed_too(started: list[subprocess.Popen[str]]) -> None:
    child = subprocess.Popen(["sleep", "600"], text=True)
    started.append(child)
    os.kill(child.pid, signal.SIGSTOP)
    os.waitpid(child.pid, os.WUNTRACED)  # returns once it has stopped

    end_processes({child.pid})

    assert child.poll() == -signal.SIGKILL


def test_a_process_that_is_gone_already_is_no_error() -> None:
    child = subprocess.Popen(["true"])
    child.wait()

    end_processes({child.pid})
