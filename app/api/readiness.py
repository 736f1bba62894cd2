"""May checks be sent here? One answer for /readyz, the metrics and the checks themselves."""

from collections.abc import Awaitable, Callable, Mapping

from app.errors import EngineNotReady, ServiceError
from app.telemetry import metrics

Probe = Callable[[], Awaitable[None]]
"""Raises a ServiceError that says why its part is not ready."""


class Readiness:
    """`required` parts decide; `informative` ones are named for whoever looks."""

    def __init__(self, required: Mapping[str, Probe], informative: Mapping[str, Probe] | None = None) -> None:
        self._required = required
        self._informative = informative or {}
        self._held_back: str | None = "the service is starting"
        self._leaving: str | None = None

    def open(self) -> None:
        """Start-up is done: from now on the probes decide."""
        self._held_back = None

    def leave(self, reason: str) -> None:
        """Say that it is not ready, and still take checks: whoever sends them needs a moment to notice."""
        self._leaving = reason

    def hold_back(self, reason: str) -> None:
        """Refuse new checks whatever the probes say."""
        self._held_back = reason

    async def parts(self) -> tuple[bool, dict[str, str]]:
        """Whether the service is ready, and by part: ok, or the reason why not."""
        parts = {"service": self._held_back or self._leaving or "ok"} | await _asked(self._required)
        is_ready = all(state == "ok" for state in parts.values())
        metrics.READY.set(is_ready)
        return is_ready, parts | await _asked(self._informative)

    async def require(self) -> None:
        """Raises EngineNotReady while new checks are held back. The engine is asked by the check itself."""
        if self._held_back is not None:
            raise EngineNotReady(self._held_back)


async def _asked(probes: Mapping[str, Probe]) -> dict[str, str]:
    states: dict[str, str] = {}
    for name, probe in probes.items():
        try:
            await probe()
            states[name] = "ok"
        except ServiceError as error:
            states[name] = str(error)
    return states
