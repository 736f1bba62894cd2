"""What happens during one check, collected as it happens, so that every ending leaves a full record."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime

from uuid6 import uuid7

from app.llm.engine import Engine, Generation, Sampling, TextListener
from app.pipeline.design import Enforcement, ModelCall
from app.pipeline.grounding import GroundedFacts
from app.pipeline.listener import Listener
from app.pipeline.request import CheckRequest
from app.policy import Decision
from app.store.records import CallKind, CallRecord
from app.telemetry import metrics
from app.telemetry.clock import utc_now


@dataclass
class RunLog:
    """Of one check: its calls, its stage timings, its flags."""

    request: CheckRequest
    listener: Listener | None = None
    started_at: datetime = field(default_factory=utc_now)
    calls: list[CallRecord] = field(default_factory=list)
    timings_ms: dict[str, float] = field(default_factory=dict)
    flags: list[str] = field(default_factory=list)
    stage: str = "start"
    facts: GroundedFacts | None = None
    decision: Decision | None = None
    """Both from the moment they are known: they are kept also when the check ends without a reply."""
    _clock: float = field(default_factory=time.perf_counter)

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        self.stage = stage
        started = time.perf_counter()
        try:
            yield
        finally:
            seconds = time.perf_counter() - started
            self.timings_ms[stage] = round(seconds * 1000, 3)
            metrics.STAGE_SECONDS.labels(stage, *self.condition).observe(seconds)

    @property
    def condition(self) -> tuple[str, str]:
        return self.request.design.value, self.request.enforcement.value

    @property
    def elapsed_ms(self) -> float:
        return round((time.perf_counter() - self._clock) * 1000, 3)

    @property
    def usage(self) -> dict[str, int]:
        return {
            "calls": len(self.calls),
            "prompt_tokens": sum(call.prompt_tokens or 0 for call in self.calls),
            "completion_tokens": sum(call.completion_tokens or 0 for call in self.calls),
        }

    async def ask(
        self, engine: Engine, kind: CallKind, call: ModelCall, user: str, on_text: TextListener | None = None
    ) -> Generation:
        """One call of the model; recorded also when it raises or is cancelled."""
        request = self.request
        sampling = Sampling(
            max_tokens=call.max_tokens,
            temperature=call.temperature if request.temperature is None else request.temperature,
            seed=request.seed,
        )
        prompt = call.prompt(user)
        constrained = request.enforcement is Enforcement.CONSTRAINED
        started_at, clock = utc_now(), time.perf_counter()
        generation: Generation | None = None
        failure: str | None = None
        try:
            generation = await engine.generate(prompt, call.schema if constrained else None, sampling, on_text)
            return generation
        except BaseException as error:
            failure = type(error).__name__
            raise
        finally:
            if generation is not None:
                metrics.TOKENS.labels(kind, "prompt", *self.condition).inc(generation.prompt_tokens)
                metrics.TOKENS.labels(kind, "completion", *self.condition).inc(generation.completion_tokens)
                metrics.CALLS_FINISHED.labels(kind, generation.finish_reason, *self.condition).inc()
            self.calls.append(
                CallRecord(
                    id=uuid7(),
                    kind=kind,
                    prompt_version=f"{call.name}/{call.version}",
                    prompt_hash=prompt.sha256,
                    schema_hash=call.schema.sha256,
                    constrained=constrained,
                    model=engine.model,
                    started_at=started_at,
                    latency_ms=round((time.perf_counter() - clock) * 1000, 3),
                    temperature=sampling.temperature,
                    seed=sampling.seed,
                    max_tokens=sampling.max_tokens,
                    finish_reason=generation.finish_reason if generation else None,
                    prompt_tokens=generation.prompt_tokens if generation else None,
                    completion_tokens=generation.completion_tokens if generation else None,
                    error=failure,
                    raw_output=generation.text if generation else None,
                )
            )
