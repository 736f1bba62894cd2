"""Hours of the day in the text. Without am or pm the reading between 08:00 and 19:59 counts."""

from collections.abc import Set
from dataclasses import dataclass
from datetime import datetime, time, timedelta

from app.pipeline.grounding.mentions import TimeKind, TimeMention
from app.pipeline.grounding.text.passage import Passage, whole_number
from app.pipeline.grounding.when.words import DAY_PARTS, MONTHS, OPENS_BEFORE, WEEKDAYS

EARLIEST_UNMARKED_HOUR = 8
LATEST_UNMARKED_HOUR = 19
NOON_HOUR = 12

_HOUR_WORDS = {
    word: hour
    for hour, word in enumerate(
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"], start=1
    )
}
_MINUTE_WORDS = {
    "five": 5, "ten": 10, "twenty": 20, "quarter": 15, "half": 30, "fifteen": 15, "thirty": 30, "forty": 40,
}  # fmt: skip
_SPOKEN_MINUTES = frozenset({5, 10, 15, 20, 25, 30})
_LEADS = frozenset({"at", "@", "to", "tomorrow", "today", "and"})
"""Before a bare number they make it a possible hour."""

_NOON = frozenset({"noon", "midday", "lunchtime"})
_OCLOCK = frozenset({"o'clock", "oclock", "o’clock"})
_STARTS = _NOON | {"midnight", "in", "half", "quarter"} | _HOUR_WORDS.keys() | {"twenty"}
_CLOCK_UNITS = {"hour": 60, "hours": 60, "hrs": 60, "hr": 60, "minutes": 1, "mins": 1, "min": 1, "minute": 1}
_HALVES = {"am": 0, "pm": 12}
_MILITARY = frozenset({"hours", "hrs", "hr", "h"})

_LATE_HOURS = frozenset(str(hour) for hour in range(13, 21))
""" "16.05" without a currency is rather an hour than an amount."""

_SPAN_WORDS = frozenset({"to", "-", "till", "until", "or", "and", "ish"})
_LONE_NUMBER = "a number alone may be an hour, but of which half of the day, or something else"
_RELATIVE = "a time counted from now, and how far is not clear"
_MIDNIGHT = "midnight belongs to two days"
_NO_SUCH_HOUR = "no hour of the day is written so"
_PART_OF_DAY = "a part of the day is not one hour"
_SPAN = "a span of hours"
_PARTS = frozenset({"morning", "afternoon", "evening", "tonight", "lunchtime", "teatime"})


@dataclass(frozen=True)
class Clock:
    """Digits or words of a clock face before morning or afternoon is known."""

    hour: int
    minute: int
    last: int
    is_hour_of_24: bool = False
    """Written so that only one reading is left."""


def find_times(passage: Passage, taken: Set[int], now: datetime) -> list[TimeMention]:
    """now: when the conversation was received, local to the clinic."""
    starts = set(passage.numbers)
    for word in _STARTS & passage.all_words:
        starts.update(passage.places[word])
    mentions: list[TimeMention] = []
    after = 0
    for position in sorted(starts):
        if position < after or position in taken:
            continue
        mention = _time_at(passage, position, now)
        if mention is not None:
            mentions.append(mention)
            after = mention.last + 1
    return mentions


def find_lone_hours(passage: Passage, taken: Set[int]) -> list[TimeMention]:
    """ "at 4", "Monday 8", "8 to 9": what may be an hour, looked for last among unexplained numbers."""
    return [
        _of_its_part(passage, position)
        for position in passage.numbers
        if position not in taken and _may_be_hour(passage, position) and not _leads_to_measure(passage, position, taken)
    ]


def _of_its_part(passage: Passage, position: int) -> TimeMention:
    """ "tomorrow morning at 10": the one part of the day in its clause tells which half is meant."""
    parts = [part for part in DAY_PARTS if part in passage.clause_words[passage.clause(position)]]
    hour = whole_number(passage.word(position))
    is_led = passage.word(position - 1) in ("at", "@")
    if hour is not None and is_led and len(parts) == 1 and passage.word(position + 1) not in _SPAN_WORDS:
        readings = [each for each in (hour % 12, hour % 12 + 12) if each in DAY_PARTS[parts[0]] and each >= 7]
        if len(readings) == 1:
            return TimeMention(position, position, time(readings[0]), TimeKind.TIME)
    return TimeMention(position, position, None, TimeKind.AMBIGUOUS, _LONE_NUMBER)


def find_parts_of_day(passage: Passage, explained: Set[int]) -> list[TimeMention]:
    """ "tomorrow morning": a time is touched on, and not settled."""
    found = []
    for word in _PARTS & passage.all_words:
        for position in passage.places[word]:
            is_opening = position == 0 and passage.word(1) in (
                "all",
                "team",
                ",",
                "!",
                "everyone",
                "just",
                "guys",
                "there",
            )
            is_greeting = passage.word(position - 1) in ("good", "lovely") or is_opening
            is_greeting = is_greeting or passage.stands_alone(position, position)
            if position not in explained and not is_greeting:
                found.append(TimeMention(position, position, None, TimeKind.AMBIGUOUS, _PART_OF_DAY))
    return found


def _time_at(passage: Passage, position: int, now: datetime) -> TimeMention | None:
    word = passage.word(position)
    if word in _NOON:
        if word == "lunchtime":
            return None
        first = position - 1 if passage.word(position - 1) in ("twelve", "12") else position
        return TimeMention(first, position, time(NOON_HOUR), TimeKind.TIME)
    if word == "midnight":
        return TimeMention(position, position, None, TimeKind.AMBIGUOUS, _MIDNIGHT)
    if word == "in":
        return _relative(passage, position, now)
    clock = _fraction_clock(passage, position) or _hour_clock(passage, position)
    if clock is None:
        return _unreadable(passage, position)
    if passage.word(clock.last + 1) in ("noon", "midday") and (clock.hour, clock.minute) == (NOON_HOUR, 0):
        return TimeMention(position, clock.last + 1, time(NOON_HOUR), TimeKind.TIME)
    return _resolve(passage, position, clock)


def _relative(passage: Passage, position: int, now: datetime) -> TimeMention | None:
    """ "in half an hour", "in 20 minutes", "in an hour and a half", "in two hours' time"."""
    at, minutes = position + 1, None
    first, second = passage.word(at), passage.word(at + 1)
    if first == "half" and second in ("an", "a"):
        minutes, unit_at = 30, at + 2
    elif first in ("a", "an") and second == "half":
        return None
    elif first in ("a", "an") and second in _CLOCK_UNITS:
        minutes, unit_at = _CLOCK_UNITS[second], at + 1
    elif (
        number := _HOUR_WORDS.get(first) or _MINUTE_WORDS.get(first) or whole_number(first)
    ) and second in _CLOCK_UNITS:
        minutes, unit_at = number * _CLOCK_UNITS[second], at + 1
    else:
        unit_at = next((at + step for step in (1, 2) if passage.word(at + step) in _CLOCK_UNITS), -1)
        return TimeMention(position, unit_at, None, TimeKind.AMBIGUOUS, _RELATIVE) if unit_at > 0 else None
    if passage.word(unit_at) not in _CLOCK_UNITS or passage.word(position - 1) in ("back", "done", "ready", "over"):
        return None
    last = unit_at
    if [passage.word(last + step) for step in (1, 2, 3)] == ["and", "a", "half"] and minutes == 60:
        minutes, last = 90, last + 3
    if passage.word(last + 1) == "'":
        last += 1
    if passage.word(last + 1) == "time":
        last += 1
    moment = now + timedelta(minutes=minutes)
    if minutes > 24 * 60:
        return TimeMention(position, last, None, TimeKind.AMBIGUOUS, _RELATIVE)
    offset = (moment.date() - now.date()).days
    return TimeMention(
        position, last, moment.time().replace(second=0, microsecond=0, tzinfo=None), TimeKind.RELATIVE, "", offset
    )


def _fraction_clock(passage: Passage, position: int) -> Clock | None:
    """ "half nine", "half past two", "quarter to five", "twenty-five past ten"."""
    minutes, link_at = _minutes_before_link(passage, position)
    link = passage.word(link_at)
    if passage.word(position) == "half" and link not in ("past", "to"):
        hour = _face_hour(passage, position + 1)
        return None if hour is None else Clock(hour, 30, position + 1)
    hour = _face_hour(passage, link_at + 1)
    if minutes is None or hour is None or link not in ("past", "to"):
        return None
    if link == "past":
        return Clock(hour, minutes, link_at + 1)
    return (
        None if minutes == 30 or _may_be_span(passage, position) else Clock(hour - 1 or 12, 60 - minutes, link_at + 1)
    )


def _minutes_before_link(passage: Passage, position: int) -> tuple[int | None, int]:
    """The minutes that begin at position, and where "past" or "to" would follow."""
    word, link_at = passage.word(position), position + 1
    minutes = whole_number(word) if passage.is_number(position) else _MINUTE_WORDS.get(word)
    five_at = link_at + (passage.word(link_at) == "-")
    if word == "twenty" and passage.word(five_at) == "five":
        minutes, link_at = 25, five_at + 1
    link_at += passage.word(link_at) in ("minutes", "mins")
    return (minutes if minutes in _SPOKEN_MINUTES else None), link_at


def _may_be_span(passage: Passage, position: int) -> bool:
    """ "10 to 4", "from ten to four": as likely from ten o'clock on."""
    if passage.is_number(position):
        return passage.word(position - 1) != "at"
    is_hour_too = passage.word(position) in _HOUR_WORDS
    return is_hour_too and passage.word(position - 1) in ("from", "between", "open")


def _face_hour(passage: Passage, position: int) -> int | None:
    hour = _HOUR_WORDS.get(passage.word(position)) or whole_number(passage.word(position))
    return hour if hour is not None and 1 <= hour <= 12 else None


def _hour_clock(passage: Passage, position: int) -> Clock | None:
    """ "14:30", "2.30pm", "10 am", "3 o'clock", "ten in the morning", "1430 hours"."""
    text = passage.word(position)
    if passage.is_number(position) and ":" in text:
        return _digital(passage, text, position)
    is_marked = _half(passage, position + 1) is not None
    if passage.is_number(position) and "." in text:
        before = passage.word(position - 1) if passage.word(position - 1) != "," else passage.word(position - 2)
        is_late = passage.stands_first(position) and text.partition(".")[0] in _LATE_HOURS
        is_led = (_leads_to_clock(before) or is_late) and not passage.is_currency(position + 1)
        is_clock = len(text.partition(".")[2]) == 2 and (
            is_marked or _part_after(passage, position) is not None or (is_led and not _is_priced(passage, position))
        )
        return _digital(passage, text.replace(".", ":"), position) if is_clock else None
    if passage.is_number(position) and len(text) == 4 and text.isdecimal():
        is_military = passage.word(position + 1) in _MILITARY or (text[0] == "0" and text[1] in "789")
        if is_military or (is_marked and passage.is_glued(position + 1)):
            last = position + 1 if passage.word(position + 1) in _MILITARY else position
            return _digital(passage, f"{text[:2]}:{text[2:]}", position, last, is_24=is_military)
        return None
    hour = _face_hour(passage, position)
    if hour is None:
        return None
    if passage.word(position + 1) in _OCLOCK:
        return Clock(hour, 0, position + 1)
    minute = _MINUTE_WORDS.get(passage.word(position + 1))
    if passage.word(position) in _HOUR_WORDS and minute is not None and passage.word(position + 1) != "half":
        is_led = passage.stands_first(position) or _leads_to_clock(passage.word(position - 1))
        is_settled = _half(passage, position + 2) is not None or (
            is_led and not passage.same_clause(position, position + 2)
        )
        if is_settled and passage.word(position + 1) in ("thirty", "fifteen"):
            return Clock(hour, minute, position + 1)
        return None
    is_noon = hour == NOON_HOUR and passage.word(position + 1) in ("noon", "midday")
    return Clock(hour, 0, position) if is_marked or is_noon or _part_after(passage, position) else None


def _leads_to_clock(word: str) -> bool:
    """Words, and written days, after which "10.30" is an hour."""
    is_day = word in MONTHS or word in WEEKDAYS or word in ("tomorrow", "today", "th", "st", "nd", "rd", "2026", "2027")
    return (
        is_day or word in ("at", "@", "time", "it") or (word[:1].isdecimal() and ("/" in word or word.count("-") == 2))
    )


def _is_priced(passage: Passage, position: int) -> bool:
    return any(passage.word(at) in ("£", "pounds", "quid", "each", "per") for at in (position + 1, position + 2))


def _digital(passage: Passage, text: str, position: int, last: int | None = None, is_24: bool = False) -> Clock | None:
    groups = text.split(":")
    if not all(group.isdecimal() and len(group) <= 2 for group in groups) or len(groups) > 3:
        return None
    hour, minute = int(groups[0]), int(groups[1])
    if len(groups[1]) != 2 or hour > 23 or minute > 59 or (len(groups) == 3 and groups[2] != "00"):
        return None
    if groups[0].startswith("0") and hour < EARLIEST_UNMARKED_HOUR and not is_24 and not _half(passage, position + 1):
        return None  # "04:30" is the small hours on one clock and the afternoon on another.
    return Clock(hour, minute, position if last is None else last, is_hour_of_24=is_24 or hour > 12)


def _unreadable(passage: Passage, position: int) -> TimeMention | None:
    """A number that only a clock would show, and no clock does: "25:10", "13pm", "10:00-11:00"; "9-11am" is a span."""
    if not passage.is_number(position):
        return None
    text = passage.word(position)
    is_marked = passage.is_glued(position + 1) and _half(passage, position + 1) is not None
    if not (":" in text or is_marked):
        return None
    note = _SPAN if "-" in text else _NO_SUCH_HOUR
    return TimeMention(position, position + is_marked, None, TimeKind.AMBIGUOUS, note)


def _half(passage: Passage, position: int) -> tuple[int, int] | None:
    """Hours to add for "am" or "pm" at position, and the position of its last token."""
    word = passage.word(position)
    if word in _HALVES:
        return _HALVES[word], position
    dotted = passage.word(position + 1) == "." and passage.word(position + 2) == "m"
    if word in ("a", "p") and dotted:
        has_point = passage.word(position + 3) == "." and passage.is_glued(position + 3)
        return _HALVES[word + "m"], position + 2 + has_point
    return None


def _resolve(passage: Passage, first: int, clock: Clock) -> TimeMention:
    half = _half(passage, clock.last + 1)
    last = half[1] if half else clock.last
    if clock.is_hour_of_24:
        hour: int | None = clock.hour
    elif half is not None:
        hour = _marked_hour(clock, half[0])
    else:
        hour = _unmarked_hour(passage, clock)
    part = _part_after(passage, last)
    last = part[1] if part else last
    if hour is None or (part is not None and hour not in DAY_PARTS[part[0]]):
        return TimeMention(first, last, None, TimeKind.AMBIGUOUS, _NO_SUCH_HOUR)
    return TimeMention(first, last, time(hour, clock.minute), TimeKind.TIME)


def _marked_hour(clock: Clock, half: int) -> int | None:
    if not 1 <= clock.hour <= 12 or (clock.hour == 12 and half == 0):
        return None  # "12am" is written for noon as often as for midnight.
    return clock.hour % 12 + half


def _unmarked_hour(passage: Passage, clock: Clock) -> int | None:
    part = _part_after(passage, clock.last)
    hours = DAY_PARTS[part[0]] if part else range(EARLIEST_UNMARKED_HOUR, LATEST_UNMARKED_HOUR + 1)
    readings = [hour for hour in (clock.hour, (clock.hour + 12) % 24) if hour in hours]
    return readings[0] if len(readings) == 1 and clock.hour > 0 else None


def _part_after(passage: Passage, position: int) -> tuple[str, int] | None:
    """ "in the morning", "at night", "that afternoon" right after position: the part of the day, and its position."""
    words = [passage.word(position + step) for step in (1, 2, 3)]
    if words[0] in ("in", "of") and words[1] in ("the", "at") and words[2] in DAY_PARTS:
        return words[2], position + 3
    if words[0] in ("this", "that") and words[1] in DAY_PARTS:
        return words[1], position + 2
    return ("night", position + 2) if words[:2] == ["at", "night"] else None


def _may_be_hour(passage: Passage, position: int) -> bool:
    text = passage.word(position)
    if passage.word(position + 1) in ("x", "×", "*") or passage.is_currency(position + 1):
        return False
    if "-" in text:
        return all(_is_hour(group) for group in text.split("-"))
    if not _is_hour(text.replace(".", ":").partition(":")[0]) or passage.word(position + 1) in ("%",):
        return False
    before, after = passage.word(position - 1), passage.word(position + 1)
    same_clause = passage.same_clause(position, position - 1)
    is_led = same_clause and (before in OPENS_BEFORE | WEEKDAYS.keys() | _LEADS) and after not in ("of", "people")
    return is_led or (after in ("to", "-", "till", "until", "or", "and", "ish") and passage.is_number(position + 2))


def _leads_to_measure(passage: Passage, position: int, taken: Set[int]) -> bool:
    """ "8 to 10 weeks"."""
    return passage.word(position + 1) in ("to", "-", "or") and position + 2 in taken


def _is_hour(text: str) -> bool:
    number = whole_number(text)
    return number is not None and 1 <= number <= 12
