"""The file of API keys: who has one, what it opens, and only its hash."""

import hashlib
import json
import os
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from app.errors import SettingsInvalid

SCOPES = ("check", "read", "eval", "erase", "metrics")
KEY_PREFIX = "bk_"
"""So that a key that leaked into a text is known for one."""


@dataclass(frozen=True)
class StoredKey:
    name: str
    scopes: tuple[str, ...]
    sha256: str
    """Of the whole key, in hex. The key has 256 random bits: nothing slower is needed against guessing."""
    created_at: str
    revoked_at: str | None = None


class KeyCommandFailed(Exception):
    """One sentence for the person at the terminal."""


def read_keys(path: Path) -> list[StoredKey]:
    """None where there is no file. Raises SettingsInvalid, which says what is wrong with it."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise SettingsInvalid(f"the keys in {str(path)!r} cannot be read: {error.strerror}") from error
    try:
        return [_key(entry) for entry in json.loads(data)["keys"]]
    except (ValueError, TypeError, KeyError) as error:
        raise SettingsInvalid(
            f"the keys in {str(path)!r} are damaged ({error}); restore the file, or remove it and make new keys"
        ) from error


def create_key(path: Path, name: str, scopes: Sequence[str], now: datetime) -> str:
    """The new key, which is kept nowhere else. Raises KeyCommandFailed, SettingsInvalid."""
    keys = read_keys(path)
    unknown = sorted(set(scopes) - set(SCOPES))
    if unknown or not scopes:
        raise KeyCommandFailed(f"unknown scope {', '.join(unknown) or 'none'}; there are {', '.join(SCOPES)}")
    if not name or not name.isprintable() or len(name) > 100:
        raise KeyCommandFailed("a name of 1 to 100 printable characters is needed: it stands in the records")
    if any(key.name == name and key.revoked_at is None for key in keys):
        raise KeyCommandFailed(f"there is a key named {name!r}; revoke it first or take another name")
    secret = KEY_PREFIX + secrets.token_urlsafe(32)
    ordered = tuple(scope for scope in SCOPES if scope in scopes)
    _write(path, [*keys, StoredKey(name, ordered, sha256_of(secret), now.isoformat())])
    return secret


def revoke_key(path: Path, name: str, now: datetime) -> None:
    """Raises KeyCommandFailed, SettingsInvalid."""
    keys = read_keys(path)
    if not any(key.name == name and key.revoked_at is None for key in keys):
        known = ", ".join(repr(key.name) for key in keys if key.revoked_at is None) or "none"
        raise KeyCommandFailed(f"no key named {name!r} is valid; valid are: {known}")
    revoked = [
        replace(key, revoked_at=now.isoformat()) if key.name == name and key.revoked_at is None else key for key in keys
    ]
    _write(path, revoked)


def sha256_of(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()


def _key(entry: Any) -> StoredKey:
    key = StoredKey(**entry | {"scopes": tuple(entry["scopes"])})
    if not set(key.scopes) <= set(SCOPES):
        raise ValueError(f"scopes of {key.name!r}")
    if len(key.sha256) != 64 or not set(key.sha256) <= set("0123456789abcdef"):
        raise ValueError(f"sha256 of {key.name!r}")
    return key


def _write(path: Path, keys: Sequence[StoredKey]) -> None:
    """The old file stands until the new one is on disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.new")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump({"keys": [asdict(key) for key in keys]}, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
