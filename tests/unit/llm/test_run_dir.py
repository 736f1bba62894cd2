"""An engine's folder: private, and enough to tidy up after an engine that was killed."""

import os
import subprocess
import sys
from collections.abc import Iterator
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from uuid import uuid4

import pytest

from app.errors import StartFailed
from app.llm.vllm_engine.run_dir import (
    make_run_dir,
    new_run_dir,
    note_shared_memory,
    remove_left_run_dirs,
    remove_run_dir,
)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture
def segment() -> Iterator[SharedMemory]:
    """Mapped by this process."""
    memory = SharedMemory(f"psm_{uuid4().hex}", create=True, size=4096)
    yield memory
    memory.close()
    try:
        memory.unlink()
    except FileNotFoundError:
        memory._mmap = None  # type: ignore[attr-defined]


def test_the_folder_is_private_and_named_for_this_process(temporary: Path) -> None:
    folder = new_run_dir()
    make_run_dir(folder)

    assert folder.parent == temporary and folder.name.endswith(f"-{os.getpid()}")
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_folder_that_is_there_already_is_refused(temporary: Path) -> None:
    new_run_dir().mkdir()

    with pytest.raises(StartFailed, match="cannot be made"):
        make_run_dir(new_run_dir())


def test_noted_memory_goes_with_the_folder_and_no_other_does(temporary: Path, segment: SharedMemory) -> None:
    folder = new_run_dir()
    make_run_dir(folder)
    foreign = Path(f"/dev/shm/psm_{uuid4().hex}")
    foreign.write_bytes(b"x")

    note_shared_memory(folder, {os.getpid()})
    remove_run_dir(folder)

    assert not Path("/dev/shm", segment.name).exists()
    assert foreign.exists() and not folder.exists()
    foreign.unlink()


def test_what_a_dead_service_left_is_removed_and_a_living_ones_is_kept(temporary: Path) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    living = subprocess.Popen(["sleep", "60"])
    folders = [temporary / f"booking-engine-{os.getuid()}-{process.pid}" for process in (dead, living)]
    left = Path(f"/dev/shm/psm_{uuid4().hex}")
    left.write_bytes(b"x")
    for folder in folders:
        folder.mkdir()
    (folders[0] / "shared-memory").write_text(str(left))

    remove_left_run_dirs()

    assert [folder.exists() for folder in folders] == [False, True]
    assert not left.exists()
    living.kill()
    living.wait()


def test_a_note_that_names_anything_else_is_not_followed(temporary: Path) -> None:
    precious = temporary / "precious"
    precious.touch()
    folder = new_run_dir()
    make_run_dir(folder)
    (folder / "shared-memory").write_text(str(precious))

    remove_run_dir(folder)

    assert precious.exists()
