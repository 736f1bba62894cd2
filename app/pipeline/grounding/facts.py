"""Facts before and after grounding: what the model extracted, and what the customer's own text bears out."""

from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from enum import StrEnum
from typing import Generic, Literal, TypeVar
from zoneinfo import ZoneInfo

from app.policy import Facts

T = TypeVar("T")


@dataclass(frozen=True)
class Message:
    role: Literal["customer", "assistant"]
    content: str


@dataclass(frozen=True)
class ExtractedFacts:
    """What the model says the customer said. Nothing here is believed yet."""

    customer_age: int | None
    price_components: tuple[Decimal, ...]
    """Pounds."""
    requested_date: str | None
    """The customer's own words."""
    requested_time: str | None
    """The customer's own words."""


@dataclass(frozen=True)
class Evidence:
    """A span of one turn of the conversation: text == content[start:end], in code points."""

    turn: int
    start: int
    end: int
    text: str


class FactStatus(StrEnum):
    VERIFIED = "verified"
    MISSING = "missing"
    """Neither the model nor the text says it."""
    UNSUPPORTED = "unsupported"
    """The model says it, the text does not."""
    AMBIGUOUS = "ambiguous"
    """The text can be read in more than one way."""
    CONFLICTING = "conflicting"
    """The text says something else, or something more."""
    IMPOSSIBLE = "impossible"
    """No such age, amount, day or hour."""


class Agreement(StrEnum):
    """Of the model with the text."""

    NONE = "none"
    """At most one of them says anything certain."""
    AGREED = "agreed"
    COMPLETED = "completed"
    """The model left out what the text states."""
    OVERRULED = "overruled"
    """The model mistook another number of the text for the fact."""
    DISAGREED = "disagreed"
    """Each says something else; nothing is verified."""


@dataclass(frozen=True)
class Fact(Generic[T]):
    value: T | None
    """What was read, if one value was read; it counts only where status is verified."""
    status: FactStatus
    evidence: tuple[Evidence, ...]
    note: str
    """Why, for an auditor: a fixed phrase without the customer's words."""
    agreement: Agreement = Agreement.NONE

    @property
    def verified_value(self) -> T | None:
        return self.value if self.status is FactStatus.VERIFIED else None


@dataclass(frozen=True)
class GroundedFacts:
    customer_age: Fact[int]
    price_components: Fact[tuple[int, ...]]
    """Pence, restated totals left out."""
    total_pence: Fact[int]
    requested_date: Fact[date]
    requested_time: Fact[time]

    def to_policy_facts(self, received_at: datetime, timezone: ZoneInfo) -> Facts:
        return Facts(
            age_years=self.customer_age.verified_value,
            total_pence=self.total_pence.verified_value,
            requested_date=self.requested_date.verified_value,
            requested_time=self.requested_time.verified_value,
            received_at=received_at,
            timezone=timezone,
        )
