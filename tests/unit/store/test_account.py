"""What another user can reach, by mode bits."""

from pathlib import Path

import pytest

from app.store.account import Account

STRANGER = Account(uid=54321, gid=54321)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Below a folder of pytest's that is closed to strangers."""
    return tmp_path


def test_a_closed_folder_above_closes_everything_below(folder: Path) -> None:
    below = folder / "closed" / "open"
    below.mkdir(parents=True)
    below.chmod(0o755)
    below.parent.chmod(0o700)

    assert not STRANGER.may_enter(below)


def test_the_owner_may_enter_a_closed_folder(folder: Path) -> None:
    folder.chmod(0o700)
    owner = Account(folder.stat().st_uid, folder.stat().st_gid)

    assert owner.may_enter(folder)


def test_the_system_root_is_open_to_everybody() -> None:
    assert STRANGER.may_enter(Path("/"))
    assert STRANGER.may_read(Path("/etc/passwd"))


def test_what_is_not_there_cannot_be_read() -> None:
    assert not STRANGER.may_read(Path("/etc/no-such-file"))
