"""Who may do what, and how often: asked before a body is read."""

from dataclasses import dataclass, field

from fastapi import Request

from app.api.keys import Caller, KeyRing
from app.api.problems import FORBIDDEN, RATE_LIMITED, UNAUTHORIZED, Problem
from app.api.rate_limit import RateLimit


@dataclass(frozen=True)
class Access:
    keys: KeyRing
    rate: RateLimit = field(default_factory=lambda: RateLimit(0))
    origins: list[str] = field(default_factory=list)
    """Of browsers that may read answers."""

    def caller(self, http: Request, scope: str) -> Caller:
        """Raises Problem: no valid key, or one that lacks the scope."""
        caller = self.keys.caller(http.headers.get("authorization"))
        if caller is None:
            raise Problem(UNAUTHORIZED, "send a valid key as Authorization: Bearer KEY")
        require(caller, scope)
        return caller

    def require_rate(self, caller: Caller) -> None:
        """Counts this request. Raises Problem when its key has asked too often."""
        if self.keys.is_open:
            return
        wait = self.rate.seconds_to_wait(caller.name)
        if wait:
            raise Problem(
                RATE_LIMITED, f"this key has asked too often; try again in {wait} s", retry_after_seconds=wait
            )


def require(caller: Caller, scope: str) -> None:
    """Raises Problem."""
    if scope not in caller.scopes:
        raise Problem(FORBIDDEN, f"this key lacks the scope {scope!r}")
