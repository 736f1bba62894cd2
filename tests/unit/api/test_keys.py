"""Who may call: keys made, kept as hashes, revoked while the service runs."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.api.key_file import SCOPES, KeyCommandFailed, create_key, read_keys, revoke_key
from app.api.keys import ANYONE, Caller, KeyRing
from app.api.rate_limit import RateLimit
from app.errors import SettingsInvalid
from app.keys.__main__ import main

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)


class Clock:
    now = 100.0

    def __call__(self) -> float:
        self.now += 2  # every look is late enough to look at the file
        return self.now


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "keys.json"


def ring(path: Path) -> KeyRing:
    return KeyRing(path, Clock())


def test_without_a_file_everybody_may_do_everything(path: Path) -> None:
    assert ring(path).caller(None) == ANYONE
    assert ANYONE.scopes == frozenset(SCOPES)
    assert ring(path).is_open and not ring(path).has_a_valid_key


def test_a_key_opens_what_it_was_made_for(path: Path) -> None:
    chat = create_key(path, "chat", ["check"], NOW)
    owner = create_key(path, "owner", list(SCOPES), NOW)

    assert ring(path).caller(f"Bearer {chat}") == Caller("chat", frozenset({"check"}))
    assert ring(path).caller(f"bearer {owner}") == Caller("owner", frozenset(SCOPES))


def test_the_file_holds_no_key_and_is_for_its_owner_alone(path: Path) -> None:
    chat = create_key(path, "chat", ["check"], NOW)

    assert chat not in path.read_text() and chat.removeprefix("bk_") not in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer ", "{}", "Basic {}", "Bearer {}x", "Bearer \udcff"])
def test_only_the_key_itself_is_accepted(path: Path, header: str | None) -> None:
    chat = create_key(path, "chat", ["check"], NOW)

    assert ring(path).caller(header.format(chat) if header else header) is None


def test_the_hash_of_a_key_opens_nothing(path: Path) -> None:
    create_key(path, "chat", ["check"], NOW)

    assert ring(path).caller(f"Bearer {read_keys(path)[0].sha256}") is None


def test_a_key_that_is_revoked_opens_nothing_from_then_on(path: Path) -> None:
    chat = create_key(path, "chat", ["check"], NOW)
    keys = ring(path)
    before = keys.caller(f"Bearer {chat}")

    revoke_key(path, "chat", NOW)

    assert before is not None
    assert keys.caller(f"Bearer {chat}") is None
    assert keys.caller(None) is None, "a file without a valid key lets nobody in"


def test_a_key_made_while_the_service_runs_closes_it_to_everybody_else(path: Path) -> None:
    keys = ring(path)
    before = keys.caller(None)

    chat = create_key(path, "chat", ["check"], NOW)

    assert before == ANYONE
    assert keys.caller(None) is None
    assert keys.caller(f"Bearer {chat}") is not None


@pytest.mark.parametrize("harm", ["remove", "damage", "empty"])
def test_whatever_happens_to_the_file_lets_nobody_new_in(path: Path, harm: str) -> None:
    chat = create_key(path, "chat", ["check"], NOW)
    keys = ring(path)
    if harm == "remove":
        path.unlink()
    else:
        path.write_text("{" if harm == "damage" else '{"keys": []}')

    assert keys.caller(None) is None
    assert (keys.caller(f"Bearer {chat}") is None) == (harm == "empty")


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        '{"keys": [{}]}',
        json.dumps({"keys": [{"name": "x", "scopes": ["all"], "sha256": "0" * 64, "created_at": ""}]}),
        json.dumps({"keys": [{"name": "x", "scopes": [], "sha256": "zz", "created_at": ""}]}),
    ],
)
def test_a_file_that_cannot_be_used_stops_the_start(path: Path, content: str) -> None:
    path.parent.mkdir()
    path.write_text(content)

    with pytest.raises(SettingsInvalid, match="are damaged"):
        ring(path)


def test_a_file_that_is_interrupted_while_it_is_written_leaves_the_old_one(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = create_key(path, "chat", ["check"], NOW)

    def fail(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space"):
        create_key(path, "second", ["check"], NOW)

    assert ring(path).caller(f"Bearer {chat}") is not None


@pytest.mark.parametrize(
    ("name", "scopes", "says"),
    [
        ("x", ["raw"], "unknown scope raw"),
        ("x", [], "unknown scope none"),
        ("", ["check"], "a name"),
        ("chat", ["check"], "there is a key named"),
    ],
)
def test_a_key_that_cannot_be_made_says_why(path: Path, name: str, scopes: list[str], says: str) -> None:
    create_key(path, "chat", ["check"], NOW)

    with pytest.raises(KeyCommandFailed, match=says):
        create_key(path, name, scopes, NOW)


def test_a_revoked_name_may_be_used_again(path: Path) -> None:
    old = create_key(path, "chat", ["check"], NOW)
    revoke_key(path, "chat", NOW)
    new = create_key(path, "chat", ["check"], NOW)

    assert ring(path).caller(f"Bearer {old}") is None
    assert ring(path).caller(f"Bearer {new}") is not None


def test_the_command_makes_lists_and_revokes(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KEYS_FILE", str(path))

    made = main(["create", "chat", "--scopes", "check,read"])
    key = capsys.readouterr().out.strip()
    listed = main(["list"])
    shown = capsys.readouterr().out
    opened = ring(path).caller(f"Bearer {key}")
    revoked = main(["revoke", "chat"])
    again = main(["revoke", "chat"])

    assert (made, listed, revoked, again) == (0, 0, 0, 1)
    assert opened == Caller("chat", frozenset({"check", "read"}))
    assert "chat" in shown and "check,read" in shown and key not in shown
    assert "no key named 'chat' is valid; valid are: none" in capsys.readouterr().err
    assert ring(path).caller(f"Bearer {key}") is None


def test_a_key_may_ask_so_often_a_minute_and_no_other_pays_for_it() -> None:
    rate = RateLimit(3)

    waits = [rate.seconds_to_wait("chat") for _ in range(4)]

    assert waits[:3] == [0, 0, 0] and 1 <= waits[3] <= 60
    assert rate.seconds_to_wait("other") == 0


def test_no_limit_is_no_limit() -> None:
    rate = RateLimit(0)

    assert {rate.seconds_to_wait("chat") for _ in range(2000)} == {0}
