"""The data has one owner."""

import os
import signal
from pathlib import Path

import pytest

from app.errors import DatabaseUnusable
from app.store.data_lock import DataLock


def test_a_second_owner_is_refused_and_told_who_the_first_is(tmp_path: Path) -> None:
    first = DataLock(tmp_path / "lock")

    with pytest.raises(DatabaseUnusable, match=f"process {os.getpid()} is using"):
        DataLock(tmp_path / "lock")

    first.release()


def test_a_released_lock_can_be_taken_again(tmp_path: Path) -> None:
    DataLock(tmp_path / "lock").release()

    DataLock(tmp_path / "lock").release()


def test_a_forked_child_does_not_keep_the_lock(tmp_path: Path) -> None:
    lock = DataLock(tmp_path / "lock")
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, b".")
        signal.pause()
    os.read(reading, 1)
    lock.release()

    try:
        DataLock(tmp_path / "lock").release()
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(reading)
        os.close(writing)
