"""The answer to a check, whatever design made it, and the record it leaves."""

from dataclasses import asdict, dataclass
from datetime import date, time
from typing import Any

import app
from app.pipeline.grounding import Fact, GroundedFacts
from app.pipeline.run_log import RunLog
from app.policy import Action, Appointment, Decision, Policy, ReasonCode, TraceStep
from app.store.records import CheckOutcome, CheckRecord
from app.telemetry.clock import utc_now


@dataclass(frozen=True)
class AppointmentText:
    """ISO for the pipeline; whatever the model wrote for designs in which the model decides."""

    date: str
    time: str


@dataclass(frozen=True)
class CheckResult:
    criteria_met: bool
    reason_code: ReasonCode
    action: Action
    appointment: AppointmentText | None
    response_text: str
    facts: GroundedFacts | None
    """None for designs in which the model decides: it states no facts apart from its decision."""
    missing_facts: tuple[str, ...]
    trace: tuple[TraceStep, ...]
    valid: bool
    """The output that the decision rests on satisfies its schema."""
    strict_json: bool
    """Every output of the model was the bare JSON object."""
    field_order_ok: bool
    consistent: bool
    """The reply as sent agrees with the decision."""
    narration_source: str


def from_decision(decision: Decision, facts: GroundedFacts, **rest: Any) -> CheckResult:
    return CheckResult(
        criteria_met=decision.criteria_met,
        reason_code=decision.reason_code,
        action=decision.action,
        appointment=_in_iso(decision.appointment) if decision.appointment else None,
        facts=facts,
        missing_facts=decision.missing_facts,
        trace=decision.trace,
        **rest,
    )


def _in_iso(appointment: Appointment) -> AppointmentText:
    return AppointmentText(appointment.date.isoformat(), appointment.time.isoformat("minutes"))


def stored_facts(facts: GroundedFacts) -> dict[str, Any]:
    """Values, statuses and evidence as offsets: what a decision recomputes from, without the customer's words."""
    return {
        "customer_age": _stored(facts.customer_age, facts.customer_age.value),
        "price_components_pence": _stored(facts.price_components, facts.price_components.value),
        "total_pence": _stored(facts.total_pence, facts.total_pence.value),
        "requested_date": _stored(facts.requested_date, _iso(facts.requested_date.value)),
        "requested_time": _stored(facts.requested_time, _iso(facts.requested_time.value)),
    }


def _iso(value: date | time | None) -> str | None:
    """Dates as YYYY-MM-DD, times as HH:MM."""
    if value is None:
        return None
    return str(value.isoformat("minutes") if isinstance(value, time) else value.isoformat())


def _stored(fact: Fact[Any], value: Any) -> dict[str, Any]:
    return {
        "value": list(value) if isinstance(value, tuple) else value,
        "status": fact.status.value,
        "note": fact.note,
        "agreement": fact.agreement.value,
        "evidence": [{"turn": e.turn, "start": e.start, "end": e.end} for e in fact.evidence],
    }


def to_record(
    log: RunLog, outcome: CheckOutcome, error: str | None, result: CheckResult | None, policy: Policy, model: str
) -> CheckRecord:
    request = log.request
    facts = result.facts if result else log.facts
    decided = result or log.decision
    return CheckRecord(
        id=request.id,
        received_at=request.received_at,
        started_at=log.started_at,
        finished_at=utc_now(),
        timezone=str(request.timezone),
        conversation_id=request.conversation_id,
        request_id=request.request_id,
        caller=request.caller,
        design=request.design.value,
        enforcement=request.enforcement.value,
        outcome=outcome,
        error=error,
        service_version=app.__version__,
        model=model,
        facts=stored_facts(facts) if facts else None,
        decision=_stored_decision(decided) if decided else None,
        policy_version=policy.version,
        policy_hash=policy.content_hash,
        trace=[_stored_step(step) for step in decided.trace] if decided else None,
        valid=result.valid if result else None,
        strict_json=result.strict_json if result else None,
        field_order_ok=result.field_order_ok if result else None,
        consistent=result.consistent if result else None,
        flags=tuple(log.flags),
        narration_source=result.narration_source if result else None,
        usage=log.usage,
        timings_ms=log.timings_ms | {"total": log.elapsed_ms},
        messages=tuple({"role": m.role, "content": m.content} for m in request.conversation),
        response_text=result.response_text if result else None,
        calls=tuple(log.calls),
        idempotency_key=request.idempotency.digest if request.idempotency else None,
        fingerprint=request.idempotency.fingerprint if request.idempotency else None,
    )


def _stored_step(step: TraceStep) -> dict[str, Any]:
    # Not asdict, which copies deeply and takes thirty times as long.
    return {"rule": step.rule, "clause": step.clause, "inputs": dict(step.inputs), "outcome": step.outcome}


def _stored_decision(decided: CheckResult | Decision) -> dict[str, Any]:
    appointment = decided.appointment
    if isinstance(appointment, Appointment):
        appointment = _in_iso(appointment)
    return {
        "criteria_met": decided.criteria_met,
        "reason_code": decided.reason_code.value,
        "action": decided.action.value,
        "appointment": asdict(appointment) if appointment else None,
        "missing_facts": list(decided.missing_facts),
    }
