"""From records to the wire."""

from dataclasses import asdict
from typing import Any

from app.api.schemas import (
    CallOut,
    CheckOut,
    DecisionEvent,
    Eligibility,
    EvidenceOut,
    FactOut,
    FactsEvent,
    PolicyOut,
    StoredCheckOut,
    TraceStepOut,
    UsageOut,
)
from app.store.records import CheckRecord


def check_out(record: CheckRecord) -> CheckOut:
    """The reply to an answered check; the same for the first request and for every retry of it."""
    return CheckOut(
        **{name: getattr(record, name) for name in _ANSWERED},
        **_decided(record),
        facts=_facts_of(record),
        flags=list(record.flags),
        usage=UsageOut(**record.usage),
    )


def facts_event(record: CheckRecord) -> FactsEvent:
    return FactsEvent(facts=_facts_of(record), missing_facts=_decided(record)["missing_facts"])


def decision_event(record: CheckRecord) -> DecisionEvent:
    return DecisionEvent(id=record.id, design=record.design, enforcement=record.enforcement, **_decided(record))


def _decided(record: CheckRecord) -> dict[str, Any]:
    decision = record.decision
    if decision is None:
        raise ValueError(f"check {record.id} ended as {record.outcome!r} and has no decision")
    return {
        "eligibility": Eligibility(criteria_met=decision["criteria_met"], reason_code=decision["reason_code"]),
        "action": decision["action"],
        "appointment": decision["appointment"],
        "missing_facts": decision["missing_facts"],
        "policy": _policy(record),
    }


def _facts_of(record: CheckRecord) -> dict[str, FactOut] | None:
    return _facts(record.facts, [message["content"] for message in record.messages]) if record.facts else None


def stored_check_out(record: CheckRecord) -> StoredCheckOut:
    """Contents that were erased are null."""
    decision = record.decision
    return StoredCheckOut(
        **{name: getattr(record, name) for name in _COPIED},
        eligibility=Eligibility(**{k: decision[k] for k in ("criteria_met", "reason_code")}) if decision else None,
        action=decision["action"] if decision else None,
        appointment=decision["appointment"] if decision else None,
        missing_facts=decision["missing_facts"] if decision else [],
        facts=_facts_of(record),
        policy=_policy(record),
        flags=list(record.flags),
        messages=list(record.messages) or None,
        response_text=record.response_text,
        calls=[CallOut(**asdict(call)) for call in record.calls],
    )


_ANSWERED = (
    "id", "design", "enforcement", "response_text", "valid", "strict_json", "field_order_ok", "consistent",
    "narration_source", "model", "timings_ms",
)  # fmt: skip

_COPIED = (
    "id", "received_at", "started_at", "finished_at", "timezone", "conversation_id", "request_id", "design",
    "enforcement", "outcome", "error", "service_version", "model", "valid", "strict_json", "field_order_ok",
    "consistent", "narration_source", "usage", "timings_ms",
)  # fmt: skip


def _policy(record: CheckRecord) -> PolicyOut:
    return PolicyOut(
        version=record.policy_version,
        hash=record.policy_hash,
        trace=[TraceStepOut(**step) for step in record.trace or []],
    )


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
