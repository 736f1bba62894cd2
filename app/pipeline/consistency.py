"""Does the reply say what was decided? Rules anyone can read; no model judges.

After the original study, and extended by figures and dates that nothing in the decision explains.
"""

import calendar
import re
from collections.abc import Iterable
from decimal import Decimal

from app.policy import Action

_AGREED = "(?:booked|confirmed|scheduled|reserved|arranged|secured)"
_WORDS = r"(?:(?!not\b|never\b)[\w-]+ ){0,3}?"
"""A few words in between, none of which turns the sentence round."""
_VISIT = "(?:appointment|consultation|booking|visit|slot|place|session)"

BOOKING_CONFIRMATION = (
    rf"\b(?:you're|you are|you've been|you have been|we've|we have|i've|i have) {_WORDS}{_AGREED}\b",
    rf"\b{_VISIT} (?:is|has|was|will be) {_WORDS}(?:{_AGREED}|set)\b",
    rf"\b{_AGREED} (?:you )?(?:in )?(?:for|on|at)\b",
    rf"\b(?:pleased|happy|delighted|glad) to {_WORDS}(?:confirm|book|reserve)\b",
    rf"\bwe (?:can |hereby |will )?(?:confirm|book|reserve) (?:you|your {_VISIT})\b",
    r"\bsee you (?:on|at|then|soon|tomorrow|there)\b",
    r"\b(?:look|looking) forward to (?:seeing|welcoming|meeting) you\b",
    rf"\byour {_VISIT} (?:reference|confirmation)\b",
)
"""Words that tell a customer an appointment exists."""

DECLINE_LANGUAGE = (
    r"\b(?:unfortunately|regret|sadly)\b",
    r"\b(?:cannot|can't|can not|unable to|not able to|won't be able to) (?:\w+ ){0,3}?"
    r"(?:book|offer|proceed|accept|accommodate|confirm|schedule|go ahead)\b",
    r"\b(?:declined?|rejected|refused|not eligible|ineligible|do(?:es)? not (?:meet|qualify))\b",
)
"""Words that tell a customer no."""

HANDOVER_LANGUAGE = (
    r"\b(?:team|colleague|someone|adviser|advisor|staff)\b[^.?!]{0,40}"
    r"\b(?:look|be in touch|get back|review|contact|decide)",
)
"""Words that tell a customer to wait for a person."""

TIME_AS_AGREED = (
    r"\b(?:we(?:'ll| will)|i(?:'ll| will)) (?:see|meet|expect) you\b",
    r"\b(?:your|the) (?:appointment|consultation|visit|slot) (?:is|will be|starts|takes place)\b"
    r"[^.?!]{0,40}\b(?:on|at|for)\b[^.?!]{0,30}\d",
    r"\b(?:is|are|all) set (?:for|on|at)\b[^.?!]{0,30}\d",
)
"""A time put as agreed, without the word booked."""

_MONTHS = {name.lower(): n for n, name in enumerate(calendar.month_name) if n}
_WEEKDAYS = {name.lower(): name.lower() for name in calendar.day_name}
_MONTH_FORMS = _MONTHS | {name[:3]: n for name, n in _MONTHS.items()} | {"sept": 9}
_WEEKDAY_FORMS = _WEEKDAYS | {name[:n]: name for name in _WEEKDAYS for n in (3, 4, 5)}
_RELATIVE_DAYS = frozenset({"tomorrow", "today", "tonight"})
_MONTH = "|".join(sorted(_MONTH_FORMS, key=len, reverse=True))
_ORDINALS = [
    "first", "second", "third", "fourth", "fifth", "sixth",
    "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth",
    "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth",
    "nineteenth", "twentieth", "twenty-first", "twenty-second", "twenty-third", "twenty-fourth",
    "twenty-fifth", "twenty-sixth", "twenty-seventh", "twenty-eighth", "twenty-ninth", "thirtieth",
    "thirty-first",
]  # fmt: skip
_DAY = rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th)?|(?P<word>{'|'.join(sorted(_ORDINALS, key=len, reverse=True))})"
_DATES = tuple(
    re.compile(pattern)
    for pattern in (
        r"\b(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})\b",
        r"\b(?P<day>\d{1,2})[/.-](?P<month>\d{1,2})[/.-](?P<year>\d{4}|\d{2})\b",
        rf"\b(?:{_DAY})(?: day)?(?: of)?,? (?P<month>{_MONTH})\b\.?",
        rf"\b(?P<month>{_MONTH})\b\.?,? (?:the )?(?:{_DAY})\b(?!:)",
    )
)
_CLOCK = re.compile(r"\b(\d{1,2})(?:[:.](\d{2}))?\s?(am|pm|a\.m\.|p\.m\.)|\b(\d{1,2}):(\d{2})\b")
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_NUMBER_WORDS = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen"
    r"|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|noon|midday|midnight)\b"
)


def inconsistencies(action: Action, has_appointment: bool, response_text: str, stated: str) -> tuple[str, ...]:
    """Flags, empty when the reply agrees with the decision.

    `stated` is all text whose figures and dates the reply may repeat.
    """
    text = _plain(response_text)
    flags: list[str] = []
    if action is Action.BOOK_APPOINTMENT:
        if not has_appointment:
            flags.append("book_but_appointment_null")
        if _says(DECLINE_LANGUAGE, text):
            flags.append("book_but_decline_language")
        if _says(HANDOVER_LANGUAGE, text):
            flags.append("book_but_handover_language")
    else:
        if has_appointment:
            flags.append("non_book_but_appointment_populated")
        if _says(BOOKING_CONFIRMATION, text):
            flags.append("booking_confirmation")
        if _says(TIME_AS_AGREED, text):
            flags.append("time_stated_as_agreed")
    (dates, rest), (known_dates, known) = _dates(text), _dates(_plain(stated))
    if not _figures(rest) <= _figures(known):
        flags.append("figure_not_in_decision")
    if not (dates <= known_dates and _day_words(rest) <= _day_words(known)):
        flags.append("date_not_in_decision")
    return tuple(flags)


def _plain(text: str) -> str:
    return text.lower().replace("\u2019", "'").replace("\u00a0", " ").replace("\u202f", " ")


def _says(patterns: Iterable[str], text: str) -> bool:
    return any(re.search(pattern, text) for pattern in patterns)


def _figures(text: str) -> set[str]:
    """Clock times as HH:MM; other numbers by value, with number words as themselves."""
    found: set[str] = set()

    def take_clock(match: re.Match[str]) -> str:
        hour, minute, half, hour24, minute24 = match.groups()
        value = int(hour24 if hour is None else hour)
        if half is not None:
            value = value % 12 + (12 if half.startswith("p") else 0)
        found.add(f"{value:02d}:{minute24 or minute or '00'}")
        return " "

    rest = _CLOCK.sub(take_clock, text)
    for number in _NUMBER.findall(rest):
        found.add(str(Decimal(number.replace(",", "")).normalize()))
    found.update(_NUMBER_WORDS.findall(rest))
    return found


def _dates(text: str) -> tuple[set[tuple[int, int]], str]:
    """Days of the calendar as (month, day), in any form; and the text without them. A year stays, as a figure."""
    found: set[tuple[int, int]] = set()

    def take(match: re.Match[str]) -> str:
        parts = match.groupdict()
        month = parts["month"]
        day = int(parts["day"]) if parts["day"] else _ORDINALS.index(parts["word"]) + 1
        found.add((int(month) if month.isdigit() else _MONTH_FORMS[month], day))
        return f" {parts.get('year') or ''} "

    for pattern in _DATES:
        text = pattern.sub(take, text)
    return found, text


def _day_words(text: str) -> set[str]:
    words = set(re.findall(r"[a-z]+", text))
    return {_WEEKDAY_FORMS[word] for word in words & set(_WEEKDAY_FORMS)} | (words & _RELATIVE_DAYS)
