"""Decide again from what is stored: needs neither model nor the customer's words."""

from datetime import date, time
from typing import Any
from zoneinfo import ZoneInfo

from app.policy import Decision, Facts, Policy, decide
from app.store.records import CheckRecord


def decision_from_record(record: CheckRecord, policy: Policy) -> Decision | None:
    """None for a check that states no facts: a design in which the model decides, or a check without an answer."""
    if record.facts is None:
        return None
    day = _verified(record.facts["requested_date"])
    moment = _verified(record.facts["requested_time"])
    facts = Facts(
        age_years=_verified(record.facts["customer_age"]),
        total_pence=_verified(record.facts["total_pence"]),
        requested_date=date.fromisoformat(day) if day else None,
        requested_time=time.fromisoformat(moment) if moment else None,
        received_at=record.received_at,
        timezone=ZoneInfo(record.timezone),
    )
    return decide(facts, policy)


def _verified(fact: dict[str, Any]) -> Any:
    return fact["value"] if fact["status"] == "verified" else None
