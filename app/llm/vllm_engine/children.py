"""vLLM's plugin in every process it starts: never outlive this service, never catch its Ctrl-C."""

import ctypes
import multiprocessing
import multiprocessing.connection
import os
import signal
import threading
from pathlib import Path

_PR_SET_PDEATHSIG = 1

SHARED_MEMORY = "/dev/shm/psm_"  # noqa: S108 - where the kernel shows multiprocessing's shared memory


def set_up() -> None:
    """Entry point `vllm.general_plugins`; runs in this service and in every process vLLM starts."""
    from app.llm.vllm_engine import fbgemm_int8

    fbgemm_int8.register()
    parent = multiprocessing.parent_process()
    if parent is None:
        return  # this is the service itself
    # Its own process group: Ctrl-C in the terminal reaches the service alone, which drains before it stops us.
    os.setpgid(0, 0)
    # The watch below cannot run in a stopped process; the kernel's signal can. It fires when the thread that started
    # us ends, which is why the service starts the engine from a thread that lives as long as the engine.
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    watch = threading.Thread(target=_end_with, args=(parent.sentinel,), name="parent-watch", daemon=True)
    watch.start()


def _end_with(parent_sentinel: int) -> None:
    multiprocessing.connection.wait([parent_sentinel])
    for path in shared_memory_files():
        path.unlink(missing_ok=True)
    os.kill(os.getpid(), signal.SIGKILL)


def shared_memory_files() -> set[Path]:
    """Files in /dev/shm that this process maps."""
    found: set[Path] = set()
    for line in Path("/proc/self/maps").read_text().splitlines():
        path = line[line.find("/") :] if SHARED_MEMORY in line else ""
        if path and not path.endswith("(deleted)"):
            found.add(Path(path))
    return found
