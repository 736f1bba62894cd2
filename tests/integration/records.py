"""A full record of a check, to be varied by tests."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from uuid import uuid4

from app.store.records import CallRecord, CheckRecord

RECEIVED_AT = datetime(2026, 3, 2, 9, 30, 15, 123456, tzinfo=timezone(timedelta(hours=1)))
STARTED_AT = datetime(2026, 3, 2, 8, 30, 16, tzinfo=UTC)


def a_call(**changes: Any) -> CallRecord:
    call = CallRecord(
        id=uuid4(),
        kind="extract",
        prompt_version="3",
        prompt_hash="a" * 64,
        schema_hash="b" * 64,
        constrained=True,
        model="a-model",
        started_at=STARTED_AT,
        latency_ms=812.25,
        temperature=0.0,
        seed=2**63 - 1,
        max_tokens=128,
        finish_reason="stop",
        prompt_tokens=311,
        completion_tokens=40,
        error=None,
        raw_output='{"customer_age": 42}',
    )
    return replace(call, **changes)


def a_record(**changes: Any) -> CheckRecord:
    record = CheckRecord(
        id=uuid4(),
        received_at=RECEIVED_AT,
        started_at=STARTED_AT,
        finished_at=STARTED_AT + timedelta(seconds=2),
        timezone="Europe/London",
        conversation_id="conversation-7",
        request_id="request-1",
        caller="anonymous",
        design="pipeline",
        enforcement="constrained",
        outcome="completed",
        error=None,
        service_version="1.0.0",
        model="a-model",
        facts={"customer_age": {"value": 42, "status": "verified", "evidence": [[3, 9]]}},
        decision={"criteria_met": True, "reason_code": "eligible", "action": "book_appointment", "missing_facts": []},
        policy_version="1.0.0",
        policy_hash="c" * 64,
        trace=[{"rule": "eligible", "inputs": {"age": 42, "total_pence": None}, "outcome": "decided"}],
        valid=True,
        strict_json=None,
        field_order_ok=False,
        consistent=True,
        flags=("ungrounded_date", "narration_replaced"),
        narration_source="template",
        usage={"prompt_tokens": 311, "completion_tokens": 40},
        timings_ms={"extract": 812.25, "total": 2000.0},
        messages=({"role": "customer", "content": "I am 42, it is £9,000 — 10 o'clock?"},),
        response_text="Booked.",
        calls=(a_call(), a_call(kind="narrate", raw_output=None, finish_reason=None, error="CallFailed", seed=None)),
    )
    return replace(record, **changes)
