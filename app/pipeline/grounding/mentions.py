"""Mentions: where the text speaks of money, an age, a day or an hour, and in what sense."""

from dataclasses import dataclass, replace
from datetime import date, time
from enum import StrEnum
from typing import Generic, TypeVar

V = TypeVar("V")


class MoneyKind(StrEnum):
    COMPONENT = "component"
    """Asked for this request."""
    RESTATED_TOTAL = "restated_total"
    INCLUDED = "included"
    """A part of another amount: "£900, including £100 for the scan"."""
    RANGE = "range"
    """A bound, an estimate or one of several alternatives."""
    DISCOUNT = "discount"
    """Taken off, in money or percent."""
    DEPOSIT = "deposit"
    """Paid already, or credited."""
    PAST = "past"
    """No longer, or never, the price of this request: a former price, past spending, a budget."""
    CORRECTED = "corrected"
    FOREIGN = "foreign"
    NET = "net"
    """Before VAT, or the VAT itself."""
    INSTRUCTION = "instruction"
    """In text that gives orders to the assistant rather than stating a fact."""
    UNREADABLE = "unreadable"


class AgeKind(StrEnum):
    ATTENDEE = "attendee"
    OTHER = "other"
    """Of somebody who does not attend."""
    BIRTH_DATE = "birth_date"
    FUTURE = "future"
    """Reached on a coming day; the value is the age today."""
    PAST = "past"
    RANGE = "range"
    CORRECTED = "corrected"
    IMPOSSIBLE = "impossible"
    UNCLEAR = "unclear"
    """Perhaps no age at all, or hedged."""
    INSTRUCTION = "instruction"


class DateKind(StrEnum):
    ABSOLUTE = "absolute"
    RELATIVE = "relative"
    AMBIGUOUS = "ambiguous"
    IMPOSSIBLE = "impossible"
    PAST = "past"
    OTHER = "other"
    """Not a day asked for: a last visit, a birthday, a day that does not suit."""
    CORRECTED = "corrected"
    INSTRUCTION = "instruction"


class TimeKind(StrEnum):
    TIME = "time"
    RELATIVE = "relative"
    AMBIGUOUS = "ambiguous"
    OTHER = "other"
    CORRECTED = "corrected"
    INSTRUCTION = "instruction"


MOST_MENTIONS = 24
"""Of one kind of fact in one conversation. More are no request that code decides, and are not weighed together."""

MentionKind = MoneyKind | AgeKind | DateKind | TimeKind


@dataclass(frozen=True)
class Mention(Generic[V]):
    """Tokens first..last, both included, of one passage."""

    first: int
    last: int
    value: V | None
    kind: MentionKind
    note: str = ""
    """Why it is of this kind, where that is not plain: a fixed phrase without the customer's words."""

    @property
    def positions(self) -> range:
        return range(self.first, self.last + 1)


@dataclass(frozen=True)
class MoneyMention(Mention[int]):
    """Value in pence, of one item."""

    quantity: int | None = 1
    """How many such items; None where a price per something has no number beside it."""
    has_currency: bool = True
    announces_sum: bool = False
    """Called a total by the words around it."""

    def of_kind(self, kind: MoneyKind, note: str = "") -> "MoneyMention":
        return replace(self, kind=kind, note=note)


@dataclass(frozen=True)
class AgeMention(Mention[int]):
    """Value in completed years today."""

    owner: str = ""
    """ "i", a person such as "mum" or "she", or empty: of the person spoken of."""
    is_bare: bool = False
    """A number alone, with nothing that calls it an age."""

    def of_kind(self, kind: AgeKind, note: str = "") -> "AgeMention":
        return replace(self, kind=kind, note=note)


@dataclass(frozen=True)
class DateMention(Mention[date]):
    def of_kind(self, kind: DateKind, note: str = "") -> "DateMention":
        return replace(self, kind=kind, note=note)


@dataclass(frozen=True)
class TimeMention(Mention[time]):
    day_offset: int | None = None
    """Days from today, where the words name a moment: "in half an hour"."""

    def of_kind(self, kind: TimeKind, note: str = "") -> "TimeMention":
        return replace(self, kind=kind, note=note)
