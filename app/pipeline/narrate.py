"""Call 2: words for a decision that is made. A narration that cannot be used costs a template, never the check."""

import asyncio
from dataclasses import dataclass
from typing import Literal

from app.errors import EngineError
from app.llm.engine import Engine
from app.pipeline.consistency import inconsistencies
from app.pipeline.designs import NARRATE
from app.pipeline.parse import ParsedOutput, parse_output
from app.pipeline.run_log import RunLog
from app.pipeline.spoken import SpokenReply
from app.pipeline.wording import brief, template
from app.policy import Decision
from app.telemetry import metrics

NarrationMode = Literal["model", "template"]


@dataclass(frozen=True)
class Narration:
    text: str
    source: NarrationMode
    output: ParsedOutput | None
    """None when the model was not asked or did not answer."""
    model_flags: tuple[str, ...] = ()
    """What was wrong with the model's words; the text itself is then the template."""


async def narrate(
    engine: Engine, decision: Decision, log: RunLog, mode: NarrationMode, timeout_seconds: float
) -> Narration:
    """Never raises for anything the model or the engine does."""
    told = brief(decision)
    spoken = SpokenReply(lambda text: not _flags(decision, text, told), log.listener.narrated) if log.listener else None
    with log.timed("narrate"):
        narration = await _attempt(engine, decision, told, log, mode, timeout_seconds, spoken)
    if spoken is not None:
        spoken.settle(narration.text)
    return _counted(narration, log)


def narrate_without_time(decision: Decision, log: RunLog) -> Narration:
    """The decision stands; only its words are the service's own."""
    narration = _fall_back(decision, None, "narration_no_time")
    if log.listener is not None:
        log.listener.narrated(narration.text, False)
    return _counted(narration, log)


def _counted(narration: Narration, log: RunLog) -> Narration:
    log.flags.extend(narration.model_flags)
    cause = (
        narration.model_flags[0] if narration.model_flags else ("asked" if narration.source == "template" else "none")
    )
    metrics.NARRATIONS.labels(narration.source, cause, *log.condition).inc()
    return narration


async def _attempt(
    engine: Engine,
    decision: Decision,
    told: str,
    log: RunLog,
    mode: NarrationMode,
    timeout_seconds: float,
    spoken: SpokenReply | None,
) -> Narration:
    if mode == "template":
        return Narration(template(decision), "template", None)
    try:
        async with asyncio.timeout(timeout_seconds):
            generation = await log.ask(engine, "narrate", NARRATE, told, spoken.hear if spoken else None)
    except TimeoutError:
        return _fall_back(decision, None, "narration_late")
    except EngineError:
        return _fall_back(decision, None, "narration_failed")
    output = parse_output(generation, NARRATE.schema)
    if output.value is None:
        return _fall_back(decision, output, f"narration_{output.flag}")
    text = output.value["response_text"].strip()
    if not text:
        return _fall_back(decision, output, "narration_empty")
    flags = _flags(decision, text, told)
    if flags:
        return _fall_back(decision, output, *(f"narration_{flag}" for flag in flags))
    return Narration(text, "model", output)


def _flags(decision: Decision, text: str, told: str) -> tuple[str, ...]:
    return inconsistencies(decision.action, decision.appointment is not None, text, told)


def _fall_back(decision: Decision, output: ParsedOutput | None, *flags: str) -> Narration:
    return Narration(template(decision), "template", output, tuple(flags))
