"""Is the engine getting anywhere? vLLM's own health check says yes while its processes are stopped."""

import time
from typing import Any

from vllm.v1.metrics.loggers import StatLoggerBase

STALL_SECONDS = 10.0
"""Work is waiting, no step has finished and nothing was computed for this long: stalled."""

STOPPED_SECONDS = 3.0
"""A process of the engine is halted for this long."""

COMPUTING_SHARE = 0.1
"""Of a core: an engine that uses less is not computing."""

LATE_SECONDS = 3.0
"""Between two looks, one a second: the service stood still itself (halted, frozen), and heard of no step meanwhile."""

PROBE_AFTER_SECONDS = 4.0
"""With nothing to do, an idle engine is asked for one token this often; a stalled one looks idle too."""

PROBE_STALL_SECONDS = 8.0
"""For an engine that has nothing but a probe to answer. With the time to the probe and two looks at it: under 15 s."""


class Progress:
    """Time of the last finished step, and whether work is waiting for the next."""

    def __init__(self, prefill_seconds_per_token: float) -> None:
        self._seconds_per_token = prefill_seconds_per_token
        self._waiting: dict[str, int] = {}
        self._last_step = self._last_computed = self._last_look = time.monotonic()
        self._cpu_seconds = 0.0
        self._halted_at: float | None = None

    def stepped(self) -> None:
        self._last_step = time.monotonic()

    def looked(self, cpu_seconds: float, *, are_stopped: bool) -> None:
        """At the engine's processes: what they have used since they started, and whether one is halted."""
        now = time.monotonic()
        if now - self._last_look > LATE_SECONDS:
            self._last_step = self._last_computed = now
        if cpu_seconds - self._cpu_seconds > COMPUTING_SHARE * (now - self._last_look):
            self._last_computed = now
        self._halted_at = (self._halted_at or now) if are_stopped else None
        self._cpu_seconds, self._last_look = cpu_seconds, now

    def began(self, request_id: str, new_tokens: int) -> None:
        """`new_tokens` are those of its prompt that have to be read: not in the prefix cache."""
        if not self._waiting:
            self._last_step = time.monotonic()
        self._waiting[request_id] = new_tokens

    def ended(self, request_id: str) -> None:
        self._waiting.pop(request_id, None)

    @property
    def idle_seconds(self) -> float:
        return 0.0 if self._waiting else time.monotonic() - self._last_step

    @property
    def stalled_seconds(self) -> float:
        """Seconds without progress beyond what the waiting prompts may take; 0 while all is well."""
        now = time.monotonic()
        if self._halted_at is not None and now - self._halted_at > STOPPED_SECONDS:
            return now - self._halted_at
        if not self._waiting:
            return 0.0
        quiet_since = max(self._last_step, self._last_computed)
        if self._last_look - quiet_since > STALL_SECONDS:
            return now - quiet_since
        new_tokens = sum(self._waiting.values())
        allowed = STALL_SECONDS + self._seconds_per_token * new_tokens if new_tokens else PROBE_STALL_SECONDS
        silent = now - self._last_step
        return silent if silent > allowed else 0.0


def heartbeat(progress: Progress) -> Any:
    """A stat-logger factory for AsyncLLM: vLLM calls `record` for every step that gave output."""

    class Heartbeat(StatLoggerBase):
        def __init__(self, vllm_config: Any, engine_index: int = 0) -> None: ...

        def record(self, *args: Any, **kwargs: Any) -> None:
            progress.stepped()

        def log_engine_initialized(self) -> None: ...

    return lambda vllm_config, engine_index=0: Heartbeat(vllm_config, engine_index)
