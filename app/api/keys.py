"""Who may call: bearer keys with scopes, stored as hashes."""

import hashlib
import hmac
from dataclasses import dataclass

from app.errors import SettingsInvalid

SCOPES = frozenset({"check", "read", "raw"})


@dataclass(frozen=True)
class Caller:
    name: str
    scopes: frozenset[str]


ANYONE = Caller("local", SCOPES)
"""The caller where no keys are set, which only a loopback address allows."""


class KeyRing:
    """Parsed from `name:scope+scope:sha256hex`, comma separated. Raises SettingsInvalid."""

    def __init__(self, api_keys: str | None) -> None:
        self._callers: list[tuple[bytes, Caller]] = []
        if api_keys is None:
            return
        for position, entry in enumerate(filter(str.strip, api_keys.split(",")), start=1):
            self._callers.append(_parse(entry.strip(), position))
        if not self._callers:
            raise SettingsInvalid("setting API_KEYS holds no key; unset it to serve this machine alone, or add one")

    def caller(self, authorization: str | None) -> Caller | None:
        """None if the header does not carry a known key."""
        if not self._callers:
            return ANYONE
        scheme, _, key = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or not key:
            return None
        digest = hashlib.sha256(key.strip().encode("latin-1", "replace")).hexdigest().encode()
        found: Caller | None = None
        for known, caller in self._callers:  # every key is compared: the time taken tells nothing
            if hmac.compare_digest(known, digest):
                found = caller
        return found


def _parse(entry: str, position: int) -> tuple[bytes, Caller]:
    name, _, rest = entry.partition(":")
    scopes, _, digest = rest.partition(":")
    wanted = frozenset(scopes.split("+"))
    if not name or not wanted <= SCOPES or len(digest) != 64 or not set(digest.lower()) <= set("0123456789abcdef"):
        raise SettingsInvalid(
            f"setting API_KEYS is not usable at entry {position}: each is name:scopes:sha256, scopes joined by + out "
            "of check, read and raw, e.g. frontend:check:<64 hex digits of `printf %s KEY | sha256sum`>"
        )
    return digest.lower().encode(), Caller(name, wanted)
