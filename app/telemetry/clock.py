"""The one place that asks the clock; everything below the edge is told what time it is or measures durations."""

from datetime import UTC, datetime


def utc_now() -> datetime:
    """Aware, in UTC."""
    return datetime.now(UTC)
