"""vLLM's processes never outlive the service, however it ends."""

import ctypes
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from typing import Any

import pytest

from app.llm.vllm_engine.children import set_up, shared_memory_files

PR_SET_CHILD_SUBREAPER = 36
WAIT_SECONDS = 30.0
"""A bound for a broken watch; a working one takes milliseconds."""

SERVICE = """
import json
import multiprocessing
import os
import signal
import threading
from multiprocessing import resource_tracker
from multiprocessing.shared_memory import SharedMemory

from app.llm.vllm_engine import children


def watched(pipe):
    memory = SharedMemory("psm_test_%d" % os.getpid(), create=True, size=4096)
    # Else Python's own tracker would remove it, and a watch that forgets to would not be noticed.
    resource_tracker.unregister(memory._name, "shared_memory")
    parent = multiprocessing.parent_process().sentinel
    threading.Thread(target=children._end_with, args=(parent,), daemon=True).start()
    pipe.send({"pid": os.getpid(), "memory": "/dev/shm/" + memory.name})
    signal.pause()


def plugged_in(pipe):
    children.set_up()
    pipe.send({"pid": os.getpid(), "group": os.getpgid(0)})
    signal.pause()


def grandparent(pipe):
    # vLLM's engine starts workers of its own, and the plugin runs in them as well.
    start(watched, pipe).join()


def start(work, pipe):
    process = multiprocessing.get_context("spawn").Process(target=work, args=(pipe,))
    process.start()
    return process


if __name__ == "__main__":
    receiving, sending = multiprocessing.Pipe(duplex=False)
    child = start(WORK, sending)
    print(json.dumps(receiving.recv() | {"child": child.pid}), flush=True)
    child.join()
"""


class Service:
    """A process with a child, and what the child says of itself."""

    def __init__(self, folder: Path, work: str) -> None:
        script = folder / "service.py"
        script.write_text(SERVICE.replace("WORK", work))
        self.process = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.child: dict[str, Any] = json.loads(self.process.stdout.readline())

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture
def service(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Service]:
    service = Service(tmp_path, request.param)
    yield service
    service.kill()
    assert service.process.stdout is not None
    service.process.stdout.close()
    for pid in {service.child["pid"], service.child["child"]}:
        if _state(pid) != "Z":
            os.kill(pid, signal.SIGKILL)
    if "memory" in service.child:
        Path(service.child["memory"]).unlink(missing_ok=True)


@pytest.mark.parametrize("service", ["watched"], indirect=True)
def test_a_killed_service_takes_its_child_and_the_childs_shared_memory_along(service: Service) -> None:
    memory = Path(service.child["memory"])
    assert memory.exists()

    service.kill()

    assert _is_gone(service.child["pid"])
    assert not memory.exists()


@pytest.mark.parametrize("service", ["grandparent"], indirect=True)
def test_a_killed_process_in_between_takes_its_own_child_along(service: Service) -> None:
    os.kill(service.child["child"], signal.SIGKILL)

    assert _is_gone(service.child["pid"])
    assert not Path(service.child["memory"]).exists()


@pytest.fixture
def adopting() -> Iterator[None]:
    """Orphans become this process's children.

    A stopped child whose new parent is of another session would be continued and hung up by the kernel; it would end
    without anything that `set_up` does.
    """
    prctl = ctypes.CDLL(None).prctl
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    yield
    prctl(PR_SET_CHILD_SUBREAPER, 0)


@pytest.mark.model
@pytest.mark.parametrize("service", ["plugged_in"], indirect=True)
def test_a_stopped_child_in_a_group_of_its_own_dies_with_the_service(adopting: None, service: Service) -> None:
    pid = service.child["pid"]
    assert service.child["group"] == pid, "Ctrl-C in the terminal must not reach it"
    os.kill(pid, signal.SIGSTOP)
    assert _comes_to(pid, "T")

    service.kill()

    assert _is_gone(pid)
    os.waitpid(pid, 0)


def test_shared_memory_is_listed_while_it_is_mapped_and_exists() -> None:
    memory = SharedMemory(f"psm_test_{os.getpid()}", create=True, size=4096)
    path = Path("/dev/shm") / memory.name

    mapped = path in shared_memory_files()
    memory.unlink()
    unlinked = {str(found) for found in shared_memory_files()}
    memory.close()

    assert mapped
    assert not any(memory.name in found for found in unlinked)


@pytest.mark.model
def test_the_service_itself_is_neither_moved_nor_watched() -> None:
    group = os.getpgid(0)

    set_up()

    assert os.getpgid(0) == group
    assert "parent-watch" not in [thread.name for thread in threading.enumerate()]


def _is_gone(pid: int) -> bool:
    return _comes_to(pid, "Z")


def _comes_to(pid: int, state: str) -> bool:
    deadline = time.monotonic() + WAIT_SECONDS
    while _state(pid) != state and time.monotonic() < deadline:
        time.sleep(0.02)
    return _state(pid) == state


def _state(pid: int) -> str:
    """The kernel's letter; Z also where the process is no longer listed."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return "Z"
