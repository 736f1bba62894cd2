"""May checks be sent here? One answer for /readyz, the metrics and the checks themselves."""

from collections.abc import Awaitable, Callable, Mapping

from app.errors import EngineNotReady, ServiceError
from app.telemetry import metrics

Probe = Callable[[], Awaitable[None]]
"""Raises a ServiceError that says why its part is not ready."""


class Readiness:
    def __init__(self, probes: Mapping[str, Probe]) -> None:
        self._probes = probes
        self._held_back: str | None = "the service is starting"

    def open(self) -> None:
        """Start-up is done: from now on the probes decide."""
        self._held_back = None

    def hold_back(self, reason: str) -> None:
        """Refuse new checks whatever the probes say."""
        self._held_back = reason

    async def parts(self) -> dict[str, str]:
        """By part: ok, or the reason why not."""
        parts = {"service": self._held_back or "ok"}
        for name, probe in self._probes.items():
            try:
                await probe()
                parts[name] = "ok"
            except ServiceError as error:
                parts[name] = str(error)
        metrics.READY.set(all(state == "ok" for state in parts.values()))
        return parts

    async def require(self) -> None:
        """Raises EngineNotReady while new checks are held back. The engine is asked by the check itself."""
        if self._held_back is not None:
            raise EngineNotReady(self._held_back)
