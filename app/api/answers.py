"""From results and records to the wire."""

from dataclasses import asdict
from typing import Any

from app.api.schemas import (
    AppointmentOut,
    CallOut,
    CheckOut,
    Eligibility,
    EvidenceOut,
    FactOut,
    PolicyOut,
    StoredCheckOut,
    TraceStepOut,
    UsageOut,
)
from app.pipeline.checks import CheckAnswer
from app.pipeline.result import stored_facts
from app.policy import Policy
from app.store.records import CheckRecord


def check_out(answer: CheckAnswer, policy: Policy, model: str) -> CheckOut:
    result, log = answer.result, answer.log
    messages = [message.content for message in log.request.conversation]
    return CheckOut(
        id=log.request.id,
        design=log.request.design,
        enforcement=log.request.enforcement,
        eligibility=Eligibility(criteria_met=result.criteria_met, reason_code=result.reason_code),
        action=result.action,
        appointment=AppointmentOut(**asdict(result.appointment)) if result.appointment else None,
        response_text=result.response_text,
        facts=_facts(stored_facts(result.facts), messages) if result.facts else None,
        missing_facts=list(result.missing_facts),
        policy=PolicyOut(
            version=policy.version,
            hash=policy.content_hash,
            trace=[TraceStepOut(**asdict(step)) for step in result.trace],
        ),
        valid=result.valid,
        strict_json=result.strict_json,
        field_order_ok=result.field_order_ok,
        consistent=result.consistent,
        flags=log.flags,
        narration_source=result.narration_source,
        model=model,
        usage=UsageOut(**log.usage),
        timings_ms=log.timings_ms | {"total": log.elapsed_ms},
    )


def stored_check_out(record: CheckRecord, with_content: bool) -> StoredCheckOut:
    """`with_content` shows the customer's words and the model's raw output."""
    decision = record.decision
    contents = [message["content"] for message in record.messages] if with_content else []
    return StoredCheckOut(
        **{name: getattr(record, name) for name in _COPIED},
        eligibility=Eligibility(**{k: decision[k] for k in ("criteria_met", "reason_code")}) if decision else None,
        action=decision["action"] if decision else None,
        appointment=decision["appointment"] if decision else None,
        missing_facts=decision["missing_facts"] if decision else [],
        facts=_facts(record.facts, contents) if record.facts else None,
        policy=PolicyOut(
            version=record.policy_version,
            hash=record.policy_hash,
            trace=[TraceStepOut(**step) for step in record.trace or []],
        ),
        flags=list(record.flags),
        messages=list(record.messages) if with_content else None,
        response_text=record.response_text if with_content else None,
        calls=[CallOut(**asdict(c) | ({} if with_content else {"raw_output": None})) for c in record.calls],
    )


_COPIED = (
    "id", "received_at", "started_at", "finished_at", "timezone", "conversation_id", "request_id", "design",
    "enforcement", "outcome", "error", "service_version", "model", "valid", "strict_json", "field_order_ok",
    "consistent", "narration_source", "usage", "timings_ms",
)  # fmt: skip


def _facts(stored: dict[str, Any], contents: list[str]) -> dict[str, FactOut]:
    """Evidence is stored as offsets; its words are shown from the message, where that may be shown and still exists."""

    def evidence(span: dict[str, int]) -> EvidenceOut:
        known = span["turn"] < len(contents)
        return EvidenceOut(**span, text=contents[span["turn"]][span["start"] : span["end"]] if known else None)

    return {
        name: FactOut(
            value=fact["value"],
            status=fact["status"],
            note=fact["note"],
            agreement=fact["agreement"],
            evidence=[evidence(span) for span in fact["evidence"]],
        )
        for name, fact in stored.items()
    }
