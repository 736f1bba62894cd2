"""What the policy may know about a request."""

from dataclasses import dataclass
from datetime import date, datetime, time
from zoneinfo import ZoneInfo


@dataclass(frozen=True)
class Facts:
    """None means: not known for certain. A fact without evidence is not a fact."""

    age_years: int | None
    total_pence: int | None
    requested_date: date | None
    requested_time: time | None
    received_at: datetime
    """Aware; the moment "past" is measured against."""
    timezone: ZoneInfo
    """Where the clinic is: requested date and time are local to it."""
