"""Ages in the text, and in what sense each is one: reached today, on a coming day, long ago, or only about so."""

from collections.abc import Callable, Set
from dataclasses import dataclass

from app.pipeline.grounding.age import words
from app.pipeline.grounding.age.cues import OLDEST_YEARS, SOMEBODY, WRITER, Cue, could_be_age, find_cue
from app.pipeline.grounding.mentions import AgeKind, AgeMention
from app.pipeline.grounding.text.numerals import NUMBER_WORDS, Numeral
from app.pipeline.grounding.text.passage import Passage, word_set

_REACH = 3
_DECADES = word_set("20s 30s 40s 50s 60s 70s 80s twenties thirties forties fifties sixties seventies")


@dataclass(frozen=True)
class _Spoken:
    """A number with its cue, and the words around."""

    passage: Passage
    number_at: int
    years: int
    first: int
    last: int
    lead: list[str]
    """The words of the cue and the ones before it, nearest first."""


@dataclass(frozen=True)
class _Sense:
    kind: AgeKind
    years: int | None
    note: str = ""
    last: int | None = None
    """Where the mention ends, if later than its number."""


def find_ages(passage: Passage, numerals: list[Numeral], taken: Set[int]) -> list[AgeMention]:
    mentions = []
    for numeral in numerals:
        if not taken.isdisjoint(range(numeral.first, numeral.last + 1)):
            continue
        cue = find_cue(passage, numeral)
        if cue is not None:
            mentions.append(_mention(passage, numeral, cue))
    return mentions + _decades(passage)


def find_bare_ages(passage: Passage, numerals: list[Numeral], taken: Set[int]) -> list[AgeMention]:
    """Unexplained numbers, in a clause of their own, that could be ages."""
    return [
        AgeMention(numeral.first, _bare_end(passage, numeral), numeral.whole, AgeKind.ATTENDEE, is_bare=True)
        for numeral in numerals
        if taken.isdisjoint(range(numeral.first, numeral.last + 1))
        and could_be_age(numeral)
        and passage.stands_alone(numeral.first, _bare_end(passage, numeral))
        and not passage.is_signed(numeral.first)
    ]


def _bare_end(passage: Passage, numeral: Numeral) -> int:
    half = words.HALVES.begin_at(passage, numeral.last + 1)
    return half.stop - 1 if half is not None else numeral.last


def _mention(passage: Passage, numeral: Numeral, cue: Cue) -> AgeMention:
    first, last = min(cue.first, numeral.first), max(cue.last, numeral.last)
    if numeral.whole is None:
        return AgeMention(first, last, None, AgeKind.UNCLEAR, "the age can be read in two ways", owner=cue.owner)
    spoken = _Spoken(passage, numeral.first, numeral.whole, first, last, _lead(passage, first, numeral.first))
    found = (weigh(spoken) for weigh in _SENSES)
    sense = next((each for each in found if each is not None), _Sense(AgeKind.ATTENDEE, spoken.years))
    return AgeMention(first, sense.last or last, sense.years, sense.kind, sense.note, owner=cue.owner)


def _impossible(age: _Spoken) -> _Sense | None:
    if age.passage.is_signed(age.number_at) or age.years > OLDEST_YEARS:
        return _Sense(AgeKind.IMPOSSIBLE, None, "nobody has such an age")
    return None


def _taken_back(age: _Spoken) -> _Sense | None:
    if words.HEDGES_BEFORE.intersection(age.lead) or any(word.endswith("n't") for word in age.lead):
        return _Sense(AgeKind.UNCLEAR, None, "the words before the age take it back or make it a supposition")
    return None


def _bounded(age: _Spoken) -> _Sense | None:
    after = age.passage.after(age.last, 1)
    is_open = bool(after) and after[0] in words.RANGE_AFTER and not _is_dash_break(age.passage, age.last)
    if words.RANGE_BEFORE.intersection(age.lead) or is_open:
        return _Sense(AgeKind.RANGE, None, "a bound or a range of ages")
    return None


def _continued(age: _Spoken) -> _Sense | None:
    is_arrow = [age.passage.word(age.last + step) for step in (1, 2)] == ["-", ">"]
    if is_arrow or age.passage.word(age.last + 1) in ("→", ">") or _goes_on(age.passage, age.last):
        return _Sense(AgeKind.UNCLEAR, None, "another number follows at once")
    return None


def _and_a_half(age: _Spoken) -> _Sense | None:
    half = words.HALVES.begin_at(age.passage, age.last + 1)
    return _Sense(AgeKind.ATTENDEE, age.years, last=half.stop - 1) if half is not None else None


def _turned(age: _Spoken) -> _Sense | None:
    return _Sense(AgeKind.ATTENDEE, age.years) if "turned" in age.lead else None


def _coming(age: _Spoken) -> _Sense | None:
    follows = age.last + 1
    future = words.FUTURE_AFTER.begin_at(age.passage, follows) if age.passage.same_clause(age.last, follows) else None
    if not words.FUTURE_BEFORE.intersection(age.lead) and future is None:
        return None
    last = future.stop - 1 if future is not None else None
    return _Sense(AgeKind.FUTURE, age.years - 1, "the age is reached on a coming day", last)


def _until(age: _Spoken) -> _Sense | None:
    return _Sense(AgeKind.ATTENDEE, age.years) if age.passage.word(age.last + 1) in words.UNTIL_AFTER else None


def _past(age: _Spoken) -> _Sense | None:
    if _is_past(age.passage, age.first, age.number_at, age.last):
        return _Sense(AgeKind.PAST, None, "the age of an earlier day")
    return None


def _near_birthday(age: _Spoken) -> _Sense | None:
    if _has_undated_birthday(age.passage, age.first):
        return _Sense(AgeKind.UNCLEAR, None, "a birthday close by may change the age")
    return None


def _oddly_followed(age: _Spoken) -> _Sense | None:
    if _is_followed_oddly(age.passage, age.last):
        return _Sense(AgeKind.UNCLEAR, None, "the words after the age may make it something else")
    return None


_SENSES: tuple[Callable[[_Spoken], _Sense | None], ...] = (
    _impossible,
    _taken_back,
    _bounded,
    _continued,
    _and_a_half,
    _turned,
    _coming,
    _until,
    _past,
    _near_birthday,
    _oddly_followed,
)
"""Tried in this order; where none applies, the age is reached today."""


def _goes_on(passage: Passage, last: int) -> bool:
    """ "3 4", "seventy... one"."""
    follows = last + 1
    while passage.word(follows) == "." and passage.word(follows + 1) in (".", *NUMBER_WORDS):
        follows += 1
    is_paused = follows > last + 2
    next_is_number = passage.is_number(follows) or passage.word(follows) in NUMBER_WORDS
    return next_is_number and (is_paused or (follows == last + 1 and passage.same_clause(last, follows)))


def _lead(passage: Passage, first: int, number_at: int) -> list[str]:
    """The words of the cue and the ones before it, nearest first, in their clause."""
    inside = [passage.word(at) for at in range(number_at - 1, first - 1, -1)]
    return inside + passage.before(first, _REACH)


def _is_dash_break(passage: Passage, last: int) -> bool:
    """ "34 - Tuesday", "I'm 34 - can I": the dash begins another thought."""
    return passage.word(last + 1) == "-" and not passage.is_glued(last + 1)


def _is_past(passage: Passage, first: int, number_at: int, last: int) -> bool:
    lead = _lead(passage, first, number_at)[:4]
    if "was" in lead or "were" in lead or "when" in lead or "since" in lead:
        return True
    if passage.word(first - 1) == "of" and passage.word(first - 2) == "age" and passage.word(first - 3) == "the":
        return True
    return passage.same_clause(last, last + 1) and words.PAST_AFTER.begin_at(passage, last + 1) is not None


def _has_undated_birthday(passage: Passage, position: int) -> bool:
    sentence = passage.sentence(position)
    return any(
        passage.sentence(at) == sentence
        and not any(passage.is_number(at + step) and passage.same_clause(at, at + step) for step in range(1, 6))
        for word in words.BIRTHDAYS & passage.all_words
        for at in passage.places[word]
    )


def _is_followed_oddly(passage: Passage, last: int) -> bool:
    follows = last + 1
    if [passage.word(follows + step) for step in range(3)] == ["by", "the", "way"]:
        return False
    if passage.is_word(follows):
        if not passage.same_clause(last, follows):
            return False
        if passage.word(last) in words.OLD:
            return False
        if passage.word(follows) == "in":
            return passage.word(follows + 1) not in ("case", "good", "need", "pain", "great")
        return passage.word(follows) not in words.MAY_FOLLOW | words.PEOPLE and not _begins_when(passage.word(follows))
    if passage.word(follows) == ":":
        return passage.is_glued(follows + 1)  # "I'm 45: £300" goes on to another matter, "34:30" is no age
    is_asked = passage.word(follows) == "?"
    return is_asked or passage.word(follows) in ("%", "°", "'", "/", "+")


def _begins_when(word: str) -> bool:
    return word in (
        "tuesday",
        "monday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
        "tomorrow",
        "tues",
        "next",
    )


def _decades(passage: Passage) -> list[AgeMention]:
    """ "in my forties", "in her 60s"."""
    found = []
    for word in passage.all_words & (_DECADES | {"s"}):
        for position in passage.places[word]:
            is_split = word == "s" and passage.is_number(position - 1) and passage.is_glued(position)
            if word == "s" and not is_split:
                continue
            first = position - is_split
            led = [passage.word(first - step) for step in (1, 2)]
            if led[0] in ("my", "her", "his", "their", "early", "late", "mid", "-"):
                owner = WRITER if "my" in led else SOMEBODY
                found.append(AgeMention(first, position, None, AgeKind.RANGE, "a decade is no age", owner=owner))
    return found
