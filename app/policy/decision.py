"""The closed sets a decision is made of."""

from dataclasses import dataclass
from datetime import date, time
from enum import StrEnum
from typing import Literal


class ReasonCode(StrEnum):
    ELIGIBLE = "eligible"
    UNDER_AGE = "under_age"
    OVER_LIMIT = "over_limit"
    INSUFFICIENT_INFO = "insufficient_info"


class Action(StrEnum):
    BOOK_APPOINTMENT = "book_appointment"
    DECLINE = "decline"
    OFFER_ALTERNATIVE = "offer_alternative"
    ESCALATE_HUMAN = "escalate_human"


FactName = Literal["customer_age", "total", "requested_date", "requested_time"]
Outcome = Literal["passed", "decided", "not_reached"]


@dataclass(frozen=True)
class Appointment:
    """Local to the clinic's timezone."""

    date: date
    time: time


@dataclass(frozen=True)
class TraceStep:
    """One rule as it was tried: what it saw and what came of it."""

    rule: str
    clause: str
    inputs: dict[str, str | int | None]
    outcome: Outcome


@dataclass(frozen=True)
class Decision:
    criteria_met: bool
    reason_code: ReasonCode
    action: Action
    appointment: Appointment | None
    missing_facts: tuple[FactName, ...]
    rule: str
    """The rule that decided."""
    policy_version: str
    policy_hash: str
    trace: tuple[TraceStep, ...]
    """Every rule of the policy in the order tried."""
