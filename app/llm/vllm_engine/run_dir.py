"""A private folder per engine: vLLM's sockets, and the names of the shared memory that must not outlive it."""

import contextlib
import os
import re
import shutil
import tempfile
from pathlib import Path

from app.errors import StartFailed
from app.llm.vllm_engine.processes import descendants

_SEGMENT = re.compile(r"/dev/shm/psm_\w+")  # noqa: S108 - where the kernel shows multiprocessing's shared memory
_NOTE = "shared-memory"


def new_run_dir() -> Path:
    """A short path, since a socket's path is limited to 107 bytes; its name tells whose it is."""
    return Path(tempfile.gettempdir()) / f"booking-engine-{os.getuid()}-{os.getpid()}"


def make_run_dir(run_dir: Path) -> None:
    """Raises StartFailed if somebody else has put something there."""
    try:
        run_dir.mkdir(mode=0o700)
    except OSError as error:
        raise StartFailed(f"{str(run_dir)!r} cannot be made: {error.strerror}; remove it or set TMPDIR") from error


def note_shared_memory(run_dir: Path, roots: set[int]) -> None:
    """Write down the segments that the engine maps, so that the next start can remove what a kill leaves."""
    names: set[str] = set()
    for pid in descendants(roots):
        with contextlib.suppress(OSError):
            names.update(_SEGMENT.findall(Path(f"/proc/{pid}/maps").read_text()))
    (run_dir / _NOTE).write_text("\n".join(sorted(names)))


def remove_run_dir(run_dir: Path) -> None:
    """With the shared memory noted in it. Its engine must have ended."""
    with contextlib.suppress(OSError):
        for name in (run_dir / _NOTE).read_text().split():
            if _SEGMENT.fullmatch(name):
                Path(name).unlink(missing_ok=True)
    shutil.rmtree(run_dir, ignore_errors=True)


def remove_left_run_dirs() -> None:
    """Those of this user whose service is dead: it was killed before it could tidy up."""
    for folder in Path(tempfile.gettempdir()).glob(f"booking-engine-{os.getuid()}-*"):
        pid = folder.name.rpartition("-")[2]
        with contextlib.suppress(OSError):
            ours = folder.stat().st_uid == os.getuid()
            if ours and (pid == str(os.getpid()) or not Path(f"/proc/{pid}").exists()):
                remove_run_dir(folder)
