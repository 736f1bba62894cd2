"""Who may call: bearer keys with scopes, looked up in the key file."""

import hmac
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from app.api.key_file import SCOPES, StoredKey, read_keys, sha256_of
from app.errors import SettingsInvalid

logger = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
"""How often a request may look whether the file has changed: so long a revoked key may still open."""


@dataclass(frozen=True)
class Caller:
    name: str
    scopes: frozenset[str]


ANYONE = Caller("local", frozenset(SCOPES))
"""The caller where there are no keys, which only a loopback address allows."""


class KeyRing:
    """The keys of a file, read again when it changes. Raises SettingsInvalid for a file that cannot be used.

    Without a file everybody local may do everything. With one, even if every key in it is revoked, only its keys open.
    """

    def __init__(self, path: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._path = path
        self._clock = clock
        self._keys = read_keys(path)
        self._version = _version(path)
        self._looked = clock()
        self.is_open = self._version is None
        """No key was ever made: whoever reaches the service may use it."""

    @property
    def has_a_valid_key(self) -> bool:
        return any(key.revoked_at is None for key in self._keys)

    def caller(self, authorization: str | None) -> Caller | None:
        """None if the header does not carry a valid key."""
        self._look()
        if self.is_open:
            return ANYONE
        scheme, _, secret = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or not secret.strip():
            return None
        digest = sha256_of(secret.strip())
        found: StoredKey | None = None
        for key in self._keys:  # every key is compared: the time taken tells nothing
            if hmac.compare_digest(key.sha256, digest):
                found = key
        return Caller(found.name, frozenset(found.scopes)) if found and found.revoked_at is None else None

    def _look(self) -> None:
        if self._clock() - self._looked < LOOK_SECONDS:
            return
        self._looked = self._clock()
        version = _version(self._path)
        if version == self._version:
            return
        self._version = version
        self.is_open = False  # once there were keys, nothing that happens to the file lets everybody in
        if version is None:
            logger.error("keys.gone", extra={"file": str(self._path)})
            return  # a file that vanishes opens nothing
        try:
            self._keys = read_keys(self._path)
        except SettingsInvalid as error:
            logger.error("keys.unreadable", extra={"reason": str(error)})


def _version(path: Path) -> tuple[int, int, int] | None:
    """Changes with the file; None without one."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
