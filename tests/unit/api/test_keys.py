"""Who may call, by the hash of a key."""

import hashlib

import pytest

from app.api.keys import ANYONE, SCOPES, Caller, KeyRing
from app.errors import SettingsInvalid

HASH = hashlib.sha256(b"swordfish").hexdigest()


def entry(name: str, scopes: str, key: str) -> str:
    return f"{name}:{scopes}:{hashlib.sha256(key.encode()).hexdigest()}"


def test_without_keys_everybody_may_do_everything() -> None:
    assert KeyRing(None).caller(None) == ANYONE
    assert ANYONE.scopes == SCOPES


@pytest.mark.parametrize("empty", ["", " ", ",", ", ,"])
def test_keys_without_a_key_are_refused_and_do_not_let_everybody_in(empty: str) -> None:
    with pytest.raises(SettingsInvalid, match="holds no key"):
        KeyRing(empty)


def test_a_key_opens_what_its_entry_says() -> None:
    keys = KeyRing(f"{entry('chat', 'check', 'one')}, {entry('owner', 'check+read+raw', 'two')}")

    assert keys.caller("Bearer one") == Caller("chat", frozenset({"check"}))
    assert keys.caller("Bearer two") == Caller("owner", SCOPES)


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_scheme_may_be_written_in_any_case(scheme: str) -> None:
    keys = KeyRing(f"chat:check:{HASH}")

    assert keys.caller(f"{scheme} swordfish") == Caller("chat", frozenset({"check"}))


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "swordfish",
        "Basic swordfish",
        "Bearer Swordfish",
        "Bearer swordfish2",
        "Bearer chat",
        "Bearer \udcff",
        f"Bearer {HASH}",
    ],
)
def test_only_the_key_itself_is_accepted(header: str | None) -> None:
    assert KeyRing(f"chat:check:{HASH}").caller(header) is None


def test_a_hash_may_be_written_in_capitals() -> None:
    assert KeyRing(f"chat:check:{HASH.upper()}").caller("Bearer swordfish") is not None


@pytest.mark.parametrize(
    "wrong",
    [
        "swordfish",
        "chat:swordfish",
        f":check:{HASH}",
        f"chat::{HASH}",
        f"chat:write:{HASH}",
        f"chat:check,read:{HASH}",
        f"chat:check+:{HASH}",
        f"chat:Check:{HASH}",
        f"chat:check:{HASH[:-1]}",
        f"chat:check:{HASH}0",
        f"chat:check:{'g' * 64}",
        f"chat:check:{HASH}:more",
    ],
)
def test_an_entry_of_another_form_is_refused_with_the_form_it_should_have(wrong: str) -> None:
    with pytest.raises(SettingsInvalid) as refused:
        KeyRing(f"{entry('owner', 'check', 'two')},{wrong}")

    said = str(refused.value)
    assert said.startswith("setting API_KEYS is not usable at entry 2: each is name:scopes:sha256")
    assert "check, read and raw" in said
    assert "swordfish" not in said and HASH[:-1] not in said, "it may be a key"
