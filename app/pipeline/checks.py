"""A check from admission to record: whatever happens, one record is kept before anyone is answered."""

import asyncio
import logging
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from app.errors import (
    CheckNotFound,
    DeadlineExceeded,
    PromptTooLong,
    StoreUnavailable,
)
from app.llm.engine import Engine
from app.pipeline.admission import Admission, AdmissionLimits
from app.pipeline.deadline import RecentTimes
from app.pipeline.design import DesignName
from app.pipeline.designs import ALL_CALLS
from app.pipeline.extract import extract
from app.pipeline.grounding import Agreement, Fact, GroundedFacts, ground
from app.pipeline.idempotency import Retries
from app.pipeline.listener import Listener
from app.pipeline.narrate import Narration, NarrationMode, narrate, narrate_without_time
from app.pipeline.request import CheckRequest
from app.pipeline.result import CheckResult, from_decision, to_record
from app.pipeline.run_log import RunLog
from app.pipeline.single_call import run_single_call
from app.pipeline.validate import lint_schema
from app.policy import Decision, Policy, decide
from app.store.call_log import CallLog
from app.store.masking import mask_record, without_contents
from app.store.records import CheckOutcome, CheckRecord
from app.telemetry import metrics

OUTPUT_PROPERTIES = ("valid", "strict_json", "field_order_ok", "consistent")

log_events = logging.getLogger(__name__)


@dataclass(frozen=True)
class CheckLimits:
    check_timeout_seconds: float
    narration_timeout_seconds: float
    admission: AdmissionLimits
    mask_stored_text: bool = True


@dataclass(frozen=True)
class CheckAnswer:
    record: CheckRecord
    """What is kept is what is answered: the reply is made from it."""
    is_replay: bool = False
    """The answer to an earlier request with the same idempotency key."""
    is_first_known: bool = True
    """False where the database could not be asked whether there was an earlier one."""


class Checks:
    """Everything a check needs, built once."""

    def __init__(
        self, engine: Engine, call_log: CallLog, policy: Policy, limits: CheckLimits, narration: NarrationMode
    ) -> None:
        self.engine = engine
        self.call_log = call_log
        self.policy = policy
        self.limits = limits
        self._narration = narration
        self._retries = Retries(call_log)
        self.admission = Admission(limits.admission)
        self._narration_times = RecentTimes()

    async def compile_grammars(self) -> None:
        for call in ALL_CALLS:
            lint_schema(call.schema.json_schema)
            await self.engine.compile(call.schema)

    async def check(self, request: CheckRequest, listener: Listener | None = None) -> CheckAnswer:
        """Raises EngineNotReady, ServiceBusy, StoreUnavailable, CheckInFlight, KeyReused and ContentErased before
        anything is begun; after that, any error leaves a record.

        StoreUnavailable after the beginning means that the record is not safe, and so that nothing may be answered.
        """
        with self._retries.claimed(request):
            earlier, is_first_known = await self._earlier(request)
            if earlier is not None:
                return CheckAnswer(earlier, is_replay=True)
            record = await self._admitted(request, listener, is_first_known)
            return CheckAnswer(record, is_first_known=is_first_known)

    async def read(self, check_id: UUID) -> CheckRecord:
        """Raises CheckNotFound, StoreUnavailable."""
        record = await self.call_log.read(check_id)
        if record is None:
            raise CheckNotFound(f"no check has the id {check_id}")
        return record

    async def _earlier(self, request: CheckRequest) -> tuple[CheckRecord | None, bool]:
        """Without the database a retry may run anew: the same facts give the same decision."""
        try:
            return await self._retries.earlier(request), True
        except StoreUnavailable:
            return None, False

    async def _admitted(self, request: CheckRequest, listener: Listener | None, is_first_known: bool) -> CheckRecord:
        await self.engine.check()
        self.call_log.require_room()
        async with self.admission.permit(request.deadline.left_seconds):
            log = RunLog(request, listener)
            with metrics.IN_FLIGHT.labels(*log.condition).track_inprogress():
                self.call_log.begin(self._unended(log))
                if listener is not None:
                    listener.begun(is_first_known=is_first_known)
                return await self._recorded(log)

    async def _recorded(self, log: RunLog) -> CheckRecord:
        try:
            result = await self._within_deadline(log)
        except asyncio.CancelledError:
            await self._keep(log, "cancelled", "client-closed-request", None)
            raise
        except DeadlineExceeded:
            await self._keep(log, "timed_out", "deadline-exceeded", None)
            raise
        except PromptTooLong:
            await self._keep(log, "refused", "message-too-long", None)
            raise
        except Exception as error:
            await self._keep(log, "failed", type(error).__name__, None)
            raise
        record = await self._keep(log, "completed" if result.valid else "invalid_output", None, result)
        _count(log, result)
        return record

    async def _within_deadline(self, log: RunLog) -> CheckResult:
        try:
            async with log.request.deadline.within():
                if log.request.design is DesignName.PIPELINE:
                    return await self._run_pipeline(log)
                return await run_single_call(self.engine, log)
        except TimeoutError as error:
            raise DeadlineExceeded(log.stage, log.request.deadline.seconds) from error

    async def _run_pipeline(self, log: RunLog) -> CheckResult:
        request = log.request
        extracted, output = await extract(self.engine, log)
        with log.timed("ground"):
            facts = ground(extracted, request.conversation, request.received_at, request.timezone)
        log.flags += disagreement_flags(facts)
        with log.timed("policy"):
            decision = decide(facts.to_policy_facts(request.received_at, request.timezone), self.policy)
        log.facts, log.decision = facts, decision
        await self._tell_decision(log)
        narration = await self._narrate(decision, log)
        return from_decision(
            decision,
            facts,
            response_text=narration.text,
            valid=output.value is not None,
            strict_json=output.strict and (narration.output is None or narration.output.strict),
            field_order_ok=output.field_order_ok and (narration.output is None or narration.output.field_order_ok),
            consistent=True,
            narration_source=narration.source,
        )

    async def _tell_decision(self, log: RunLog) -> None:
        """Kept before it is told. Raises StoreUnavailable."""
        if log.listener is None:
            return
        record = self._unended(log)
        with log.timed("log"):
            await self.call_log.keep_decision(record)
        log.listener.decided(record)

    async def _narrate(self, decision: Decision, log: RunLog) -> Narration:
        """In the service's own words when there is hardly time for the model's."""
        seconds = min(log.request.deadline.narration_seconds, self.limits.narration_timeout_seconds)
        if self._narration == "model" and seconds <= self._narration_times.p95_seconds:
            return narrate_without_time(decision, log)
        narration = await narrate(self.engine, decision, log, self._narration, seconds)
        if narration.source == "model":
            self._narration_times.add(log.timings_ms["narrate"] / 1000)
        return narration

    def _record(self, log: RunLog, outcome: CheckOutcome, error: str | None, result: CheckResult | None) -> CheckRecord:
        return to_record(log, outcome, error, result, self.policy, self.engine.model)

    def _unended(self, log: RunLog) -> CheckRecord:
        """What is kept of the check should this process die now."""
        return self._stored(self._record(log, "interrupted", "process-died", None))

    def _stored(self, record: CheckRecord, *, is_final: bool = False) -> CheckRecord:
        return _masked(record, is_final) if self.limits.mask_stored_text else record

    async def _keep(
        self, log: RunLog, outcome: CheckOutcome, error: str | None, result: CheckResult | None
    ) -> CheckRecord:
        """Write the record, and say so; a caller who is cancelled meanwhile waits for it. Raises StoreUnavailable."""
        keeping = asyncio.create_task(self._kept(log, outcome, error, result))
        try:
            return await asyncio.shield(keeping)
        except asyncio.CancelledError:
            await asyncio.wait({keeping})
            keeping.exception()  # nobody is left to hear it; the log has it
            raise

    async def _kept(
        self, log: RunLog, outcome: CheckOutcome, error: str | None, result: CheckResult | None
    ) -> CheckRecord:
        metrics.CHECKS.labels(*log.condition, outcome).inc()
        metrics.CHECK_SECONDS.labels(*log.condition).observe(log.elapsed_ms / 1000)
        record = self._record(log, outcome, error, result)
        stored = self._stored(record, is_final=True)
        fields = {"check_id": str(record.id), "request_id": record.request_id, "outcome": outcome, "error": error}
        try:
            await self.call_log.write(stored)
        except StoreUnavailable:
            log_events.error("check.not_recorded", extra=fields)
            raise
        action = result.action.value if result else None
        log_events.info("check.finished", extra=fields | {"action": action, "milliseconds": log.elapsed_ms})
        return record if stored.response_text is None else stored


def _masked(record: CheckRecord, is_final: bool) -> CheckRecord:
    """What cannot be masked is not kept: the decision is."""
    try:
        safe, found = mask_record(record)
    except Exception as error:  # noqa: BLE001 - whatever is wrong with it, no text goes to the disk unmasked
        log_events.error("check.not_masked", extra={"check_id": str(record.id), "error": type(error).__name__})
        metrics.MASKING_FAILED.inc()
        return without_contents(record)
    for kind, times in found.items() if is_final else ():  # counted once a check
        metrics.MASKED.labels(kind).inc(times)
    return safe


def disagreement_flags(facts: GroundedFacts) -> list[str]:
    """One for each fact that the model stated otherwise than the text."""
    named: dict[str, Fact[Any]] = {
        "age": facts.customer_age,
        "prices": facts.price_components,
        "date": facts.requested_date,
        "time": facts.requested_time,
    }
    told_apart = (Agreement.OVERRULED, Agreement.DISAGREED)
    return [f"{name}_{fact.agreement.value}" for name, fact in named.items() if fact.agreement in told_apart]


def _count(log: RunLog, result: CheckResult) -> None:
    metrics.DECISIONS.labels(*log.condition, result.action.value, result.reason_code.value).inc()
    for name in OUTPUT_PROPERTIES:
        metrics.OUTPUTS.labels(*log.condition, name, str(getattr(result, name)).lower()).inc()
    for flag in set(log.flags):
        metrics.FLAGS.labels(*log.condition, flag).inc()
    if result.facts is not None:
        for name in ("customer_age", "total_pence", "requested_date", "requested_time"):
            fact: Fact[Any] = getattr(result.facts, name)
            metrics.FACTS.labels(name, fact.status.value, *log.condition).inc()
            metrics.AGREEMENTS.labels(name, fact.agreement.value, *log.condition).inc()
