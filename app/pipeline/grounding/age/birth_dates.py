"""Birth dates and birthdays: an age that code computes, and never a day asked for."""

from collections.abc import Set
from datetime import date

from app.pipeline.grounding.age import words as age_words
from app.pipeline.grounding.age.cues import OLDEST_YEARS, WRITER, person_near
from app.pipeline.grounding.mentions import AgeKind, AgeMention
from app.pipeline.grounding.text.numerals import read_ordinal
from app.pipeline.grounding.text.passage import Passage, whole_number
from app.pipeline.grounding.when.dates import Day, read_day

_LINKS = frozenset(
    {
        "it's",
        "its",
        "it",
        "sure",
        "yes",
        ":",
        "is",
        "on",
        "-",
        "=",
        "the",
        "was",
        "of",
        "in",
        "a",
        ",",
        ".",
        "(",
        "b",
        "o",
        "d",
        "birth",
        "date",
    }
)
_MOST_LINKS = 5


def find_birth_dates(passage: Passage, today: date, taken: Set[int], is_asked: bool) -> list[AgeMention]:
    """is_asked: the message answers a question for the birth date."""
    mentions: list[AgeMention] = []
    for position in [*([-1] if is_asked else []), *_cues(passage)]:
        day_at = position + 1
        while passage.word(day_at) in _LINKS and day_at - position <= _MOST_LINKS:
            day_at += 1
        mention = _at(passage, position, day_at, today, taken)
        if mention is not None and not any(mention.first <= other.last for other in mentions):
            mentions.append(mention)
    return mentions + _coming_birthdays(passage)


def _coming_birthdays(passage: Passage) -> list[AgeMention]:
    """ "my 18th birthday is next week": the age today is one less."""
    found = []
    for word in age_words.BIRTHDAYS & passage.all_words:
        for position in passage.places[word]:
            number = _ordinal_ending_at(passage, position - 1)
            after = position + 1 + (passage.word(position + 1) in ("is", "'s", "falls"))
            coming = age_words.FUTURE_AFTER.begin_at(passage, after)
            if number is not None and coming is not None:
                owner = _owner(passage, position)
                note = "the age is reached on a coming day"
                found.append(AgeMention(position, coming.stop - 1, number - 1, AgeKind.FUTURE, note, owner=owner))
    return found


def _ordinal_ending_at(passage: Passage, position: int) -> int | None:
    if passage.word(position) in ("th", "st", "nd", "rd") and passage.is_number(position - 1):
        return whole_number(passage.word(position - 1))
    for first in (position - 2, position - 1, position):
        ordinal = read_ordinal(passage, first)
        if ordinal is not None and ordinal[1] == position:
            return ordinal[0]
    return None


def find_birthdays(passage: Passage, explained: Set[int]) -> list[range]:
    """Days that are a birthday without its year: "my birthday's 3 March". They are neither asked for nor an age."""
    found = []
    for word in age_words.BIRTHDAYS & passage.all_words:
        for position in passage.places[word]:
            at = position + 1
            while passage.word(at) in _LINKS | {"'s"} and at - position <= _MOST_LINKS:
                at += 1
            day = read_day(passage, at, explained)
            if day is not None:
                found.append(range(at, day.last + 1))
    return found


def asks_birth_date(passage: Passage) -> bool:
    words = passage.all_words
    return "dob" in words or "born" in words or ("birth" in words and "date" in words)


def _cues(passage: Passage) -> list[int]:
    found = [at for word in ("born", "dob", "birthdate") for at in passage.places.get(word, ())]
    found += [at for at in passage.places.get("birth", ()) if passage.word(at - 1) in ("of", "date", "my")]
    if passage.word(0) == "d" or "d" in passage.all_words:
        spelled = ["d", ".", "o", ".", "b"]
        found += [
            at + 4 for at in passage.places.get("d", ()) if [passage.word(at + step) for step in range(5)] == spelled
        ]
    return sorted(set(found))


def _at(passage: Passage, cue_at: int, day_at: int, today: date, taken: Set[int]) -> AgeMention | None:
    owner = _owner(passage, cue_at)
    day = read_day(passage, day_at, taken)
    if day is None:
        year = whole_number(passage.word(day_at))
        if year is not None and today.year - OLDEST_YEARS <= year <= today.year:
            return AgeMention(day_at, day_at, None, AgeKind.BIRTH_DATE, "a birth year leaves two ages", owner=owner)
        return None
    day = _with_year(passage, day)
    if day.year is None:
        return AgeMention(day_at, day.last, None, AgeKind.BIRTH_DATE, "a birthday without its year", owner=owner)
    is_short = str(day.year) not in passage.word(day.last)
    age = _age(day, today, is_short)
    if age is None or not 0 <= age <= OLDEST_YEARS:
        return AgeMention(day_at, day.last, None, AgeKind.IMPOSSIBLE, "no such birth date", owner=owner)
    return AgeMention(day_at, day.last, age, AgeKind.BIRTH_DATE, owner=owner)


def _with_year(passage: Passage, day: Day) -> Day:
    """ "3rd March 85": a short year after a month's name."""
    if day.year is not None:
        return day
    text = passage.word(day.last + 1)
    if text.isdecimal() and len(text) == 2 and passage.same_clause(day.last, day.last + 1):
        return Day(day.day, day.month, 2000 + int(text), day.last + 1)
    return day


def _age(day: Day, today: date, is_short: bool) -> int | None:
    assert day.year is not None
    try:
        born = date(day.year, day.month, day.day)
    except ValueError:
        return None
    if born > today and is_short:
        try:
            born = date(day.year - 100, day.month, day.day)  # "4/1/41" is never in the future
        except ValueError:
            return None
    if born > today:
        return None
    return today.year - born.year - ((today.month, today.day) < (born.month, born.day))


def _owner(passage: Passage, cue_at: int) -> str:
    if cue_at < 0:
        return ""
    if passage.word(cue_at - 1) in ("(", ","):
        return person_near(passage, cue_at) or ""
    before = passage.before(cue_at, 5)
    for word in before:
        if word in ("i", "i'm", "was", "my") and word != "was":
            return WRITER
        if word in ("her", "she"):
            return "she"
        if word in ("his", "he"):
            return "he"
        person = word.removesuffix("'s")
        if person in age_words.PEOPLE:
            return person
    return ""
