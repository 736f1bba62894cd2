"""Dates and times as a model writes them, brought to one form: 14:30 is 2:30pm. What cannot be read stays unequal."""

import re
from datetime import date, time

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
            "september sep sept", "october oct", "november nov", "december dec",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
_WEEKDAYS = r"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?,? +)?(?:the )?"
_DATE_FORMS = (
    re.compile(r"(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})(?:t00:00(?::00)?)?"),
    re.compile(r"(?P<day>\d{1,2})[/.-](?P<month>\d{1,2})[/.-](?P<year>\d{4})"),
    re.compile(
        _WEEKDAYS + r"(?P<day>\d{1,2})(?:st|nd|rd|th)?(?: of)?[ -](?P<month>[a-z]{3,9})\.?(?:,?[ -](?P<year>\d{4}))?"
    ),
    re.compile(_WEEKDAYS + r"(?P<month>[a-z]{3,9})\.? (?P<day>\d{1,2})(?:st|nd|rd|th)?(?:,? (?P<year>\d{4}))?"),
)
_CLOCK = re.compile(r"(?P<hour>\d{1,2})(?:[:.](?P<minute>\d\d))?(?::00)? ?(?P<half>[ap]\.?m\.?)?")
_NAMED_TIMES = {"noon": time(12), "midday": time(12), "12 noon": time(12), "midnight": time(0)}


def read_date(text: str, received_on: date) -> date | None:
    """Day before month; without a year the next such day from `received_on`. None if it is not one date."""
    plain = _plain(text)
    for form in _DATE_FORMS:
        if match := form.fullmatch(plain):
            month = match["month"]
            number = int(month) if month.isdigit() else _MONTHS.get(month)
            return _day(match["year"], number, int(match["day"]), received_on)
    return None


def read_time(text: str) -> time | None:
    """A bare hour needs am or pm: "9" is no time, "09:00" is."""
    plain = _plain(text)
    if plain in _NAMED_TIMES:
        return _NAMED_TIMES[plain]
    match = _CLOCK.fullmatch(plain)
    if match is None or (match["minute"] is None and match["half"] is None):
        return None
    hour, minute = int(match["hour"]), int(match["minute"] or 0)
    if match["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if match["half"].startswith("p") else 0)
    return time(hour, minute) if hour < 24 and minute < 60 else None


def _day(year: str | None, month: int | None, day: int, received_on: date) -> date | None:
    if month is None:
        return None
    years = [int(year)] if year else [received_on.year, received_on.year + 1]
    for candidate in years:
        try:
            found = date(candidate, month, day)
        except ValueError:
            continue
        if year or found >= received_on:
            return found
    return None


def _plain(text: str) -> str:
    return " ".join(text.replace("\u202f", " ").lower().split())
