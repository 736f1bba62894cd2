"""Postgres' programs run where they are installed and where they were copied."""

import stat
import subprocess
from pathlib import Path

import pytest

from app.store.postgres_binaries import copy_binaries, packaged_binaries


@pytest.mark.parametrize("name", ["postgres", "initdb"])
def test_a_copied_program_finds_its_libraries(tmp_path: Path, name: str) -> None:
    copied = copy_binaries(packaged_binaries(), tmp_path / "copy")

    answer = subprocess.run([copied.program(name), "--version"], capture_output=True, text=True, check=True)

    assert answer.stdout.split()[-1] == copied.version


def test_everybody_may_read_a_copy_and_nobody_else_may_change_it(tmp_path: Path) -> None:
    copied = copy_binaries(packaged_binaries(), tmp_path / "copy")

    modes = {stat.S_IMODE(path.stat().st_mode) for path in [copied.base, *copied.base.rglob("*")]}
    assert modes == {0o755, 0o644}


def test_a_copy_is_made_once_and_leaves_nothing_unfinished(tmp_path: Path) -> None:
    first = copy_binaries(packaged_binaries(), tmp_path / "copy")
    made = first.program("postgres").stat()

    second = copy_binaries(packaged_binaries(), tmp_path / "copy")

    assert second.program("postgres").stat().st_ino == made.st_ino
    assert [path.name for path in tmp_path.iterdir()] == ["copy"]
