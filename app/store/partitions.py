"""A partition for each month: made ahead, dropped whole when its time is over."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from uuid import UUID

from app.store.tables import PARTITIONED

MONTHS_BEFORE = 1
"""A spool that was left over the turn of a month."""
MONTHS_AHEAD = 3

_TIMESTAMP_SHIFT = 80
"""A UUIDv7 begins with 48 bits of milliseconds since 1970."""


@dataclass(frozen=True)
class Month:
    year: int
    month: int

    @property
    def suffix(self) -> str:
        return f"y{self.year:04}m{self.month:02}"

    @property
    def start(self) -> datetime:
        return datetime(self.year, self.month, 1, tzinfo=UTC)

    def plus(self, months: int) -> "Month":
        years, month = divmod(self.month - 1 + months, 12)
        return Month(self.year + years, month + 1)


def uuid7_floor(moment: datetime) -> UUID:
    """No UUIDv7 of this moment or later is smaller, every earlier one is."""
    return UUID(int=int(moment.timestamp() * 1000) << _TIMESTAMP_SHIFT)


def month_of(day: date) -> Month:
    return Month(day.year, day.month)


def creation(today: date) -> Iterator[str]:
    """SQL that makes the partitions around today where they are missing."""
    for offset in range(-MONTHS_BEFORE, MONTHS_AHEAD + 1):
        month = month_of(today).plus(offset)
        first, last = uuid7_floor(month.start), uuid7_floor(month.plus(1).start)
        for table in PARTITIONED:
            yield (
                f"CREATE TABLE IF NOT EXISTS {table.name}_{month.suffix} PARTITION OF {table.name} "
                f"FOR VALUES FROM ('{first}') TO ('{last}')"
            )


def month_of_partition(name: str) -> Month | None:
    """None for what is no monthly partition."""
    year, _, month = name.rpartition("_y")[2].partition("m")
    return Month(int(year), int(month)) if year.isdecimal() and month.isdecimal() and "_y" in name else None
