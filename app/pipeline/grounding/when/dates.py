"""Days in the text. Day before month; no year means the next such day; a weekday is the nearest to come."""

import re
from collections.abc import Set
from dataclasses import dataclass
from datetime import date, timedelta

from app.pipeline.grounding.mentions import DateKind, DateMention
from app.pipeline.grounding.text.numerals import ORDINAL_UNITS, read_ordinal
from app.pipeline.grounding.text.passage import Passage, whole_number
from app.pipeline.grounding.when import words
from app.pipeline.grounding.when.words import MONTHS, WEEKDAYS

_YEARS = range(1900, 2100)
_ORDINALS = frozenset({"st", "nd", "rd", "th"})
_ORDINAL_WORDS = ORDINAL_UNITS.keys() | {"twenty", "thirty"}
_DAYS_PER_WEEK = 7
_UNITS = {"day": 1, "days": 1, "week": 7, "weeks": 7, "wks": 7, "fortnight": 14, "fortnights": 14}
_COUNTS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "ten": 10, "couple": 2}
_RELATIVE_FIRST = frozenset(
    {"today", "tonight", "tomorrow", "tommorow", "tomorow", "tmrw", "tmr", "overmorrow", "2moro"}
)
_TOMORROW = _RELATIVE_FIRST - {"today", "tonight", "overmorrow"}
_STARTS = (
    WEEKDAYS.keys()
    | MONTHS.keys()
    | _RELATIVE_FIRST
    | {"weekend", "fortnight", "week", "in", "day", "month", "yesterday"}
    | _ORDINAL_WORDS
    | {"christmas", "boxing", "new"}
)
_POSSESSIVES = {day + "'s" for day in WEEKDAYS}
_LEADS_TO_FACT = frozenset({"i'm", "im", "am", "aged", "age", "is", "gbp", "£"})
_BEFORE_SHORT = frozenset({"on", "this", "next", "coming", "for", "every", "till", "until", "by", "a", "or", "either"})
_BEFORE_DAY_ALONE = frozenset({"the", "on", "for", "this"})
_AFTER_DAY_ALONE = words.OPENS_BEFORE | frozenset(
    [
        "at",
        "of",
        "please",
        "if",
        "in",
        "and",
        "to",
        "would",
        "is",
        "works",
        "suits",
        "around",
        "works?",
        "december",
        "january",
        "then",
        "or",
    ]
)
"""Words after "the 8th" that leave it a day; another word is what it counts."""

_BOOKED_AHEAD = timedelta(days=3 * 366)
"""A day further off is rather a birth date, or a mistake in the year."""

_TOO_FAR = "the day is years away"
_NO_SUCH_DAY = "the calendar has no such day"
_CONTRADICTION = "the weekday contradicts the date"
_TODAYS_NAME = "the weekday is today's: today or in a week"
_MONTH_FIRST = "the date is not written day before month"
_NO_DAY = "a week, a weekend or a month is not one day"
_SEVERAL_DAYS = "several days share one month"
_PAST = "the day has gone by"

_YEAR_FIRST = re.compile(r"([0-9]{4})([-/.])([0-9]{1,2})\2([0-9]{1,2})")
_DAY_FIRST = re.compile(r"([0-9]{1,2})([-/.])([0-9]{1,2})\2([0-9]{4}|[0-9]{2})")
_DAY_AND_MONTH = re.compile(r"([0-9]{1,2})/([0-9]{1,2})")
_LONGEST = 10
"""Characters of a numeric date."""


@dataclass(frozen=True)
class Day:
    """A day as written; the weekday, if any, is a claim to be checked."""

    day: int
    month: int
    year: int | None
    last: int


def find_dates(passage: Passage, taken: Set[int], today: date) -> list[DateMention]:
    starts = set(passage.numbers)
    for word in passage.all_words & (_STARTS | _POSSESSIVES):
        starts.update(passage.places[word])
    mentions: list[DateMention] = []
    after = 0
    for position in sorted(starts):
        if position < after or position in taken:
            continue
        mention = _date_at(passage, position, taken, today)
        if mention is not None:
            mentions.append(mention)
            after = mention.last + 1
    return mentions


def read_day(passage: Passage, position: int, taken: Set[int]) -> Day | None:
    """A day with its month, in figures or words, that starts at position."""
    word = passage.word(position)
    if word in MONTHS:
        return _month_then_day(passage, position, taken)
    if not passage.is_number(position) and word not in _ORDINAL_WORDS:
        return None
    return _numeric(passage, position) or _day_then_month(passage, position, taken)


def _date_at(passage: Passage, position: int, taken: Set[int], today: date) -> DateMention | None:
    word = passage.word(position)
    if word.removesuffix("'s") in WEEKDAYS:
        return _from_weekday(passage, position, taken, today)
    if word in _RELATIVE_FIRST:
        return _from_today(passage, position, today)
    if word in ("in", "day") or word in _UNITS:
        return _counted(passage, position, today) or _vague(passage, position)
    if word in ("christmas", "boxing", "new"):
        return _named(passage, position, today)
    if word in ("weekend", "month"):
        return _vague(passage, position)
    if word == "yesterday":
        return DateMention(position, position, today - timedelta(days=1), DateKind.PAST, _PAST)
    day = read_day(passage, position, taken)
    if day is not None:
        return _resolve(passage, position, day, today)
    return (
        _day_span(passage, position)
        or _month_first(passage, position)
        or _day_alone(passage, position, today)
        or _month_alone(passage, position)
    )


def _named(passage: Passage, position: int, today: date) -> DateMention | None:
    """ "Christmas Eve"."""
    for names, (month, day) in words.NAMED_DAYS.items():
        if all(passage.word(position + step) == name for step, name in enumerate(names)):
            value = _calendar_day(Day(day, month, None, 0), today)
            return DateMention(position, position + len(names) - 1, value, DateKind.ABSOLUTE)
    return None


def _from_today(passage: Passage, position: int, today: date) -> DateMention | None:
    word = passage.word(position)
    if word == "overmorrow":
        return DateMention(position, position, today + timedelta(days=2), DateKind.RELATIVE)
    is_tomorrow = word in _TOMORROW
    first = position
    value = today + timedelta(days=int(is_tomorrow))
    before = [passage.word(position - step) for step in (3, 2, 1)]
    if before[1:] == ["day", "after"] and is_tomorrow:
        first, value = position - 2, value + timedelta(days=1)
    last = position
    weekday_at = position + 1 + (passage.word(position + 1) in (",", "("))
    weekday = WEEKDAYS.get(passage.word(weekday_at)) if passage.word(weekday_at) not in words.WORDS_TOO else None
    if weekday is not None and not passage.is_number(weekday_at + 1):
        last = weekday_at
        if weekday != value.weekday():
            return DateMention(first, last, None, DateKind.AMBIGUOUS, _CONTRADICTION)
    if passage.word(first - 1) == "week" and passage.word(first - 2) == "a":  # "a week today", "a week tomorrow"
        return DateMention(first - 2, last, value + timedelta(days=_DAYS_PER_WEEK), DateKind.RELATIVE)
    if passage.word(last + 1) == "week" or passage.word(first - 1) in ("from", "week", "weeks"):
        return DateMention(first, last, None, DateKind.AMBIGUOUS, _NO_DAY)
    return DateMention(first, last, value, DateKind.RELATIVE)


def _counted(passage: Passage, position: int, today: date) -> DateMention | None:
    """ "in three days", "in a week", "in 2 weeks' time"; "day after tomorrow" begins here as well."""
    if passage.word(position) == "day":
        if passage.word(position + 1) == "after" and passage.word(position + 2) in _TOMORROW:
            return DateMention(position, position + 2, today + timedelta(days=2), DateKind.RELATIVE)
        return None
    if passage.word(position) != "in":
        return None
    count_at = position + 1
    count = _COUNTS.get(passage.word(count_at)) or whole_number(passage.word(count_at))
    if passage.word(count_at) == "a" and passage.word(count_at + 1) == "couple":
        count, count_at = 2, count_at + 1 + (passage.word(count_at + 2) == "of")
    unit = _UNITS.get(passage.word(count_at + 1).rstrip("'").removesuffix("'s"))
    if count is None or unit is None or count > 60:
        return None
    last = count_at + 1
    if passage.word(last + 1) == "'":
        last += 1
    if passage.word(last + 1) == "time":
        last += 1
    is_exact = unit == 1 or passage.word(last + 1) in ("today", "exactly")
    if not is_exact or passage.word(count_at) == "couple":
        return DateMention(position, last, None, DateKind.AMBIGUOUS, _NO_DAY)
    return DateMention(position, last, today + timedelta(days=count * unit), DateKind.RELATIVE)


def _vague(passage: Passage, position: int) -> DateMention | None:
    """A week, a weekend, a month: no single day."""
    word, before, after = passage.word(position), passage.word(position - 1), passage.word(position + 1)
    is_led = before in ("next", "this", "following", "coming", "the")
    if word in ("weekend", "weekends") or (word == "fortnight" and before != "a"):
        return DateMention(position, position, None, DateKind.AMBIGUOUS, _NO_DAY)
    if word in ("week", "month") and is_led and before != "the":
        weekday = WEEKDAYS.get(after)
        if weekday is None and after != "on":
            return DateMention(position, position, None, DateKind.AMBIGUOUS, _NO_DAY)
        return DateMention(position, position, None, DateKind.AMBIGUOUS, _NO_DAY)
    return None


def _from_weekday(passage: Passage, position: int, taken: Set[int], today: date) -> DateMention | None:
    if passage.word(position - 1) in ("black", "cyber", "good", "shrove", "ash", "pancake", "easter"):
        return DateMention(position - 1, position, None, DateKind.OTHER, "the name of a day in the year")
    day_at = position + 1
    while passage.word(day_at) in (",", "the", "."):
        day_at += 1
    day = None if day_at in taken else read_day(passage, day_at, taken)
    if day is not None:
        return _resolve(passage, position, day, today)
    if day_at not in taken and (ordinal := _ordinal_at(passage, day_at)) is not None:
        return _weekday_and_day(passage, position, ordinal, today)
    if day_at not in taken and day_at == position + 1 and _is_bare_day(passage, day_at):
        return DateMention(
            position, day_at, None, DateKind.AMBIGUOUS, "a number after the weekday may be the day or the hour"
        )
    if passage.word(position) in words.WORDS_TOO and passage.word(position - 1) not in _BEFORE_SHORT:
        is_dated = (
            passage.is_number(position + 1)
            or passage.word(position + 1) == "at"
            or passage.word(position + 1) in words.DAY_PARTS
        )
        if not is_dated and len(passage.words) != 1 and not passage.stands_alone(position, position):
            return None
    return _nearest(passage, position, today)


def _is_bare_day(passage: Passage, position: int) -> bool:
    number = whole_number(passage.word(position)) if passage.is_number(position) else None
    is_hours = passage.word(position + 1) in ("to", "-", "until", "till", "am", "pm", "or", "a", "p")
    return number is not None and 1 <= number <= 31 and not is_hours


def _weekday_word(passage: Passage, position: int) -> str:
    return passage.word(position).removesuffix("'s")


def _nearest(passage: Passage, position: int, today: date) -> DateMention:
    days = (WEEKDAYS[_weekday_word(passage, position)] - today.weekday()) % _DAYS_PER_WEEK
    if passage.word(position - 1) == "last":
        value = today + timedelta(days=days - _DAYS_PER_WEEK)
        return DateMention(position - 1, position, value, DateKind.OTHER, _PAST)
    first, last = position, position
    if passage.word(position - 1) in ("next", "this", "coming"):
        first = position - 1
    if days == 0:
        return DateMention(first, last, None, DateKind.AMBIGUOUS, _TODAYS_NAME)
    if passage.word(position + 1) == "week" and first == position:  # "Tuesday week"
        return DateMention(position, position + 1, today + timedelta(days=days + _DAYS_PER_WEEK), DateKind.RELATIVE)
    if _follows_a_week(passage, position):  # "a week on Tuesday"
        return DateMention(position - 3, last, today + timedelta(days=days + _DAYS_PER_WEEK), DateKind.RELATIVE)
    return DateMention(first, last, today + timedelta(days=days), DateKind.RELATIVE)


def _follows_a_week(passage: Passage, position: int) -> bool:
    return [passage.word(position - step) for step in (3, 2, 1)] == ["a", "week", "on"]


def _ordinal_at(passage: Passage, position: int) -> tuple[int, int] | None:
    """ "8th", "tenth": the number and the position of its last token."""
    if passage.is_number(position):
        number = whole_number(passage.word(position))
        has_suffix = passage.word(position + 1) in _ORDINALS and passage.is_glued(position + 1)
        return (number, position + 1) if number is not None and has_suffix and 1 <= number <= 31 else None
    return read_ordinal(passage, position)


def _next_such_day(number: int, today: date) -> date | None:
    value = today
    for _ in range(62):
        if value.day == number:
            return value
        value += timedelta(days=1)
    return None


def _weekday_and_day(passage: Passage, position: int, ordinal: tuple[int, int], today: date) -> DateMention:
    """ "Tuesday the 8th": certain only where the next such day of the month is that weekday."""
    number, last = ordinal
    value = _next_such_day(number, today)
    if value is None or value.weekday() != WEEKDAYS[passage.word(position)]:
        return DateMention(position, last, None, DateKind.AMBIGUOUS, _CONTRADICTION)
    return DateMention(position, last, value, DateKind.RELATIVE)


def _numeric(passage: Passage, position: int) -> Day | None:
    text = passage.word(position)
    if len(text) > _LONGEST or text.isdecimal():
        return None
    if match := _YEAR_FIRST.fullmatch(text):
        return Day(int(match[4]), int(match[3]), int(match[1]), position)
    if match := _DAY_FIRST.fullmatch(text):
        year = int(match[4])
        return _possible(Day(int(match[1]), int(match[3]), year if year >= 100 else 2000 + year, position))
    if match := _DAY_AND_MONTH.fullmatch(text):
        return None if text == "24/7" else _possible(Day(int(match[1]), int(match[2]), None, position))
    return None


def _possible(day: Day) -> Day | None:
    """Drops what no calendar would show: "120/80", "50/50"."""
    return day if 1 <= day.day <= 31 and 1 <= day.month <= 12 else None


def _day_then_month(passage: Passage, position: int, taken: Set[int]) -> Day | None:
    """ "8 December", "the 8th of Dec, 2026", "the tenth of December"."""
    ordinal = None if passage.is_number(position) else read_ordinal(passage, position)
    number = ordinal[0] if ordinal else whole_number(passage.word(position))
    month_at = (ordinal[1] if ordinal else position) + 1
    if passage.word(month_at) in _ORDINALS:
        month_at += 1
    if passage.word(month_at) == "." and passage.is_glued(month_at):
        month_at += 1  # "9. Dezember"
    if passage.word(month_at) == "of":
        month_at += 1
    if passage.word(month_at) == "-" and passage.is_glued(month_at):
        month_at += 1
    month = MONTHS.get(passage.word(month_at))
    if number is None or month is None or not 0 <= number <= 99:
        return None
    year, last = _year_after(passage, month_at, taken)
    return Day(number, month, year, last)


def _month_then_day(passage: Passage, position: int, taken: Set[int]) -> Day | None:
    """ "December 8th, 2026"."""
    day_at = position + 1 + (passage.word(position + 1) == "the")
    ordinal = None if passage.is_number(day_at) else read_ordinal(passage, day_at)
    number = ordinal[0] if ordinal else whole_number(passage.word(day_at))
    if number is None or number > 99 or day_at in taken:
        return None
    if passage.word(position) == "may" and ordinal is None and passage.word(position - 1) in ("i", "we"):
        return None
    last = ordinal[1] if ordinal else day_at + (passage.word(day_at + 1) in _ORDINALS)
    year, last = _year_after(passage, last, taken)
    return Day(number, MONTHS[passage.word(position)], year, last)


def _year_after(passage: Passage, position: int, taken: Set[int]) -> tuple[int | None, int]:
    year_at = position + 1 + (passage.word(position + 1) in (",", ".", "-", "'"))
    text = passage.word(year_at)
    year = whole_number(text) if year_at not in taken else None
    if year in _YEARS and len(text) == 4:
        return year, year_at
    is_short = passage.word(position + 1) in ("-", "'") and year is not None and len(text) == 2
    if year is not None and is_short:
        return 2000 + year, year_at
    return None, position


def _resolve(passage: Passage, first: int, day: Day, today: date) -> DateMention:
    value = _calendar_day(day, today)
    weekday, last = _weekday_claim(passage, first, day.last)
    if _shares_month(passage, first):
        return DateMention(first, last, None, DateKind.AMBIGUOUS, _SEVERAL_DAYS)
    if value is None:
        return DateMention(first, last, None, DateKind.IMPOSSIBLE, _NO_SUCH_DAY)
    if weekday is not None and value.weekday() != weekday:
        return DateMention(first, last, None, DateKind.AMBIGUOUS, _CONTRADICTION)
    if value < today:
        return DateMention(first, last, value, DateKind.PAST, _PAST)
    if value - today > _BOOKED_AHEAD:
        return DateMention(first, last, None, DateKind.AMBIGUOUS, _TOO_FAR)
    return DateMention(first, last, value, DateKind.ABSOLUTE)


def _weekday_claim(passage: Passage, first: int, last: int) -> tuple[int | None, int]:
    """The weekday before the day, or right after it: "14 December (Monday)"."""
    if passage.word(first) in WEEKDAYS:
        return WEEKDAYS[passage.word(first)], last
    after = last + 1 + (passage.word(last + 1) in (",", "("))
    if passage.word(after) == "which" and passage.word(after + 1) == "is":
        after += 2 + (passage.word(after + 2) == "a")
    if passage.word(after) in WEEKDAYS and not passage.is_number(after + 1):
        return WEEKDAYS[passage.word(after)], after
    return None, last


def _calendar_day(day: Day, today: date) -> date | None:
    try:
        if day.year is not None:
            return date(day.year, day.month, day.day)
        this_year = date(today.year, day.month, day.day)
        return this_year if this_year >= today else date(today.year + 1, day.month, day.day)
    except ValueError:
        return None


def _shares_month(passage: Passage, first: int) -> bool:
    """ "8 or 9 December", "8, 9 December": the day before has no month of its own."""
    at = first - 1
    while passage.word(at) in ("or", "and", "&", ",", "-", "to", "/") or passage.word(at) in _ORDINALS:
        at -= 1
    number = whole_number(passage.word(at))
    return at < first - 1 and number is not None and 1 <= number <= 31 and not _is_fact_before(passage, at)


def _is_fact_before(passage: Passage, position: int) -> bool:
    """A number led by a currency or a person: "£20, 8 December", "I'm 30, 8 December"."""
    led_by = passage.word(position - 1)
    is_last_of_list = not passage.same_clause(position, position - 1) and passage.word(position + 1) == ","
    return (
        passage.is_currency(position - 1)
        or led_by in _LEADS_TO_FACT
        or led_by.endswith("'s")
        or (is_last_of_list and passage.word(position).isdecimal() and int(passage.word(position)) > 31)
    )


def _day_span(passage: Passage, position: int) -> DateMention | None:
    """ "8-9 December", "8/9 December"."""
    has_days = passage.is_number(position) and not passage.word(position).isdecimal()
    month_at = position + 1 + (passage.word(position + 1) in _ORDINALS)
    if has_days and passage.word(month_at) in MONTHS:
        return DateMention(position, month_at, None, DateKind.AMBIGUOUS, _SEVERAL_DAYS)
    return None


def _month_first(passage: Passage, position: int) -> DateMention | None:
    text = passage.word(position)
    match = (_DAY_FIRST.fullmatch(text) or _DAY_AND_MONTH.fullmatch(text)) if len(text) <= _LONGEST else None
    if match is None:
        return None
    groups = match.groups()
    month, day = int(groups[0]), int(groups[2] if len(groups) > 2 else groups[1])
    looks_like_date = 1 <= month <= 12 < day <= 31
    return DateMention(position, position, None, DateKind.AMBIGUOUS, _MONTH_FIRST) if looks_like_date else None


def _day_alone(passage: Passage, position: int, today: date) -> DateMention | None:
    """ "the 8th" without its month is the next such day; "the 2nd visit" is none."""
    ordinal = _ordinal_at(passage, position)
    if ordinal is None:
        return None
    number, last = ordinal
    in_words = not passage.is_number(position)
    follows = passage.after(last, 1)
    is_counted = bool(follows) and follows[0].isalpha() and follows[0] not in _AFTER_DAY_ALONE
    if is_counted or (in_words and number < 4) or passage.word(position - 1) not in _BEFORE_DAY_ALONE:
        return None
    if follows[:1] == ["of"]:
        return DateMention(position, last, None, DateKind.AMBIGUOUS, _NO_DAY)
    return DateMention(position, last, _next_such_day(number, today), DateKind.RELATIVE)


def _month_alone(passage: Passage, position: int) -> DateMention | None:
    """ "in January", "early December": no single day."""
    is_led = passage.word(position - 1) in ("in", "early", "late", "mid", "during", "next", "this", "of")
    if passage.word(position) in MONTHS and is_led:
        return DateMention(position, position, None, DateKind.AMBIGUOUS, _NO_DAY)
    return None
