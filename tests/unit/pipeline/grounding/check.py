"""Shorthand for the tests of grounding: one message, one received moment, one clinic."""

from datetime import date, datetime, time
from decimal import Decimal
from zoneinfo import ZoneInfo

from app.pipeline.grounding import ExtractedFacts, Fact, FactStatus, GroundedFacts, Message, ground

LONDON = ZoneInfo("Europe/London")
RECEIVED_AT = datetime(2026, 11, 29, 18, 0, tzinfo=LONDON)
"""A Sunday evening."""


def extracted(
    age: int | None = None, prices: tuple[str, ...] = (), day: str | None = None, hour: str | None = None
) -> ExtractedFacts:
    return ExtractedFacts(age, tuple(Decimal(price) for price in prices), day, hour)


def ground_turns(facts: ExtractedFacts, *turns: tuple[str, str]) -> GroundedFacts:
    """Turns are ("customer" | "assistant", content)."""
    conversation = [Message("customer" if role == "customer" else "assistant", content) for role, content in turns]
    return ground(facts, conversation, RECEIVED_AT, LONDON)


def ground_text(text: str, facts: ExtractedFacts) -> GroundedFacts:
    return ground_turns(facts, ("customer", text))


def total_of(text: str, *prices: str) -> Fact[int]:
    return ground_text(text, extracted(prices=prices)).total_pence


def age_in(text: str, age: int | None) -> Fact[int]:
    return ground_text(text, extracted(age=age)).customer_age


def day_in(text: str, day: str | None) -> Fact[date]:
    return ground_text(text, extracted(day=day)).requested_date


def hour_in(text: str, hour: str | None) -> Fact[time]:
    return ground_text(text, extracted(hour=hour)).requested_time


VERIFIED = FactStatus.VERIFIED
MISSING = FactStatus.MISSING
UNSUPPORTED = FactStatus.UNSUPPORTED
AMBIGUOUS = FactStatus.AMBIGUOUS
CONFLICTING = FactStatus.CONFLICTING
IMPOSSIBLE = FactStatus.IMPOSSIBLE
