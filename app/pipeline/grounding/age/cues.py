"""What makes a number an age, and whose: "I'm 34", "aged 72", "my son (14)", "52-year-old", "44F"."""

from collections.abc import Callable
from dataclasses import dataclass

from app.pipeline.grounding.age import words
from app.pipeline.grounding.text.numerals import Numeral
from app.pipeline.grounding.text.passage import Passage

OLDEST_YEARS = 120
"""Nobody who books a consultation is older."""

WRITER = "i"
SOMEBODY = ""
"""Of the person spoken of, whoever that is."""
UNCLEAR = "?"
""" "James is 34", "the scar's 34": perhaps of no person at all."""

_REACH = 3
"""Fillers passed over between a cue and its number."""
_PERSON_REACH = 4
"""Tokens between a person and an age in commas or brackets: "my son, 14", "my nan (she is 81)"."""
_TITLES = {
    "dr": "doctor",
    "doctor": "doctor",
    "prof": "doctor",
    "nurse": "doctor",
    "mr": "he",
    "mrs": "she",
    "ms": "she",
    "miss": "she",
}
""" "Dr Lowe (aged 34)" is not the writer."""
_BE = frozenset({"am", "was", "be", "are"})
_BEFORE_BE = frozenset({"i", "i'll", "will", "i'd", "shall", "ill", "to"})
_TURN = frozenset({"turn", "turning", "turned", "hit"})
_BEFORE_TURN = frozenset({"i", "i'm", "im", "i'll", "i've", "just"})
_IS = frozenset({"is", "was", "be", "turns", "are"})
_CONTRACTED = frozenset({"shes", "hes", "they're", "she'll", "he'll"})
_LABELS = frozenset({":", "=", "is", "of", ",", "-"})


@dataclass(frozen=True)
class Cue:
    first: int
    last: int
    owner: str
    """WRITER, SOMEBODY, UNCLEAR, or the word for the person."""


def find_cue(passage: Passage, numeral: Numeral) -> Cue | None:
    if (numeral.is_scaled and not numeral.in_words) or _is_of_a_thing(passage, numeral):
        return None
    before = _cue_before(passage, numeral)
    after = _cue_after(passage, numeral)
    if before is not None:
        return Cue(before.first, after.last if after else numeral.last, before.owner)
    return after


def could_be_age(numeral: Numeral) -> bool:
    return numeral.whole is not None and numeral.whole <= OLDEST_YEARS + 10 and not numeral.is_scaled


def _cue_before(passage: Passage, numeral: Numeral) -> Cue | None:
    at = numeral.first - 1 - passage.is_signed(numeral.first)
    while passage.word(at) in words.FILLERS | words.APPROXIMATE and numeral.first - at <= _REACH:
        if passage.word(at) in ("aged", "age"):
            break
        at -= 1
    found = (recognise(passage, numeral, at) for recognise in _BEFORE)
    return next((cue for cue in found if cue is not None), None)


def _of_writer(passage: Passage, numeral: Numeral, at: int) -> Cue | None:
    """ "I'm 34", "I shall be 34", "I'll turn 34", "I've turned 34"."""
    word, previous = passage.word(at), passage.word(at - 1)
    if word in ("i'm", "im"):
        return Cue(at, numeral.last, WRITER)
    if (word in _BE and previous in _BEFORE_BE) or (word in _TURN and previous in _BEFORE_TURN):
        return Cue(at - 1, numeral.last, WRITER)
    turns = passage.word(numeral.first - 1) in ("turn", "be", "turned", "just")
    return Cue(at, numeral.last, WRITER) if word in ("i'll", "i've", "ill") and turns else None


def _labelled(passage: Passage, numeral: Numeral, at: int) -> Cue | None:
    """ "age: 34", "my son's age is 14", "me: 34"."""
    previous = passage.word(at - 1)
    if passage.word(at) not in _LABELS or not could_be_age(numeral):
        return None
    if previous in ("age", "ages"):
        return _named(passage, at - 1, numeral)
    if previous in ("me", "patient") and passage.word(at) in (":", "=", "-", "is"):
        return Cue(at - 1, numeral.last, WRITER if previous == "me" else SOMEBODY)
    return None


def _aged(passage: Passage, numeral: Numeral, at: int) -> Cue | None:
    if passage.word(at) in ("aged", "age", "turning", "turned", "turns", "turn"):
        return Cue(at, numeral.last, person_near(passage, at) or SOMEBODY)
    return None


def _beside_person(passage: Passage, numeral: Numeral, at: int) -> Cue | None:
    if _is_person_and_age(passage, numeral, at):
        return Cue(at - (passage.word(at) in (",", "=", ":")), numeral.last, _owner_of(passage, at))
    return None


def _approximate_alone(passage: Passage, numeral: Numeral, at: int) -> Cue | None:
    return Cue(numeral.first - 1, numeral.last, SOMEBODY) if _is_approximate_alone(passage, numeral) else None


def _of_other(passage: Passage, numeral: Numeral, at: int) -> Cue | None:
    word = passage.word(at)
    is_said = word in _IS or word.endswith("'s") or word in _CONTRACTED
    return _cue_of_other(passage, at, numeral) if is_said else None


def _is_of_a_thing(passage: Passage, numeral: Numeral) -> bool:
    """ "the clinic is 18 years old"."""
    word = passage.word(numeral.first - 1)
    subject = passage.word(numeral.first - 2) if word in ("is", "was") else word.removesuffix("'s")
    return (word in ("is", "was") or word.endswith("'s")) and subject in words.NO_PERSONS - {"patient"}


def _is_person_and_age(passage: Passage, numeral: Numeral, at: int) -> bool:
    """ "husband 53", "me = 36", "my stepdaughter, 16,"."""
    if at != numeral.first - 1 or not could_be_age(numeral):
        return False
    person_at = at - 1 if passage.word(at) in (",", "=", ":") else at
    person = passage.word(person_at).removesuffix("'s")
    if person not in words.PEOPLE and person not in ("me", "myself"):
        return False
    closes = not passage.is_word(numeral.last + 1) or passage.word(numeral.last + 1) in words.MAY_FOLLOW | {
        "will",
        "snoring",
    }
    if passage.word(at) == ",":
        closes = passage.word(numeral.last + 1) in (",", ".", ")", "-", "") or not passage.same_clause(
            numeral.last, numeral.last + 1
        )
    return closes and passage.word(numeral.last + 1) not in ("-", "/", ":", "%")


def _owner_of(passage: Passage, at: int) -> str:
    person = passage.word(at - 1 if passage.word(at) in (",", "=", ":") else at).removesuffix("'s")
    return WRITER if person in ("me", "myself") else person


def _is_approximate_alone(passage: Passage, numeral: Numeral) -> bool:
    """ "nearly 18, promise", "over 60, can I": an approximation that is a clause of its own."""
    lead = passage.word(numeral.first - 1)
    is_lead = lead in ("nearly", "almost", "over", "under", "about", "around", "soon", "approx")
    return is_lead and could_be_age(numeral) and passage.stands_alone(numeral.first - 1, numeral.last)


def _named(passage: Passage, age_at: int, numeral: Numeral) -> Cue:
    owner = passage.word(age_at - 1)
    if owner in ("my", "own"):
        return Cue(age_at - 1, numeral.last, WRITER)
    if owner in ("her", "his", "their"):
        return Cue(age_at - 1, numeral.last, {"her": "she", "his": "he", "their": "they"}[owner])
    person = owner.removesuffix("'s")
    if person in words.PEOPLE:
        return Cue(age_at - 1, numeral.last, person)
    return Cue(age_at, numeral.last, SOMEBODY)


def _bracketed(passage: Passage, numeral: Numeral, bracket_at: int) -> Cue | None:
    """ "my son (14)"."""
    closes = passage.word(bracket_at) == "(" and passage.word(numeral.last + 1) == ")"
    if not closes or not could_be_age(numeral):
        return None
    person = passage.word(bracket_at - 1)
    if person in words.PEOPLE:
        return Cue(bracket_at - 1, numeral.last, person)
    return Cue(bracket_at - 1, numeral.last, WRITER) if person in ("me", "myself", "i") else None


def person_near(passage: Passage, position: int) -> str | None:
    """The person an "aged 72" describes: right before it, over a comma too."""
    at = position - 1
    for _ in range(_PERSON_REACH):
        if passage.word(at) in ("i'm", "im", "i", "me"):
            return WRITER
        if passage.word(at) in words.PEOPLE or passage.word(at) in words.PRONOUNS:
            return passage.word(at)
        title = passage.word(at - 1) if passage.word(at - 1) != "." else passage.word(at - 2)
        if title in _TITLES:
            return _TITLES[title]
        is_name = passage.is_word(at) and passage.word(at - 1) in words.PEOPLE
        if not is_name and passage.word(at) not in (",", "(", "is", "who", "-", "who's", "named", "called"):
            return None
        at -= 1
    return None


def _cue_of_other(passage: Passage, at: int, numeral: Numeral) -> Cue | None:
    word = passage.word(at)
    is_verb = word in _IS
    person = passage.word(at - 1) if is_verb else word.removesuffix("'s").removesuffix("'ll").removesuffix("'re")
    person = {"shes": "she", "hes": "he"}.get(person, person)
    first = at - 1 if is_verb else at
    if is_verb and passage.word(at - 2) in words.PEOPLE and person.isalpha() and person not in words.PRONOUNS:
        person = passage.word(at - 2)  # "my colleague Jo is 47"
    if person in ("who", ")"):
        person = person_near(passage, at if is_verb else at + 1) or person
    if not person.isalpha() or not could_be_age(numeral) or person in words.NO_PERSONS:
        return None
    is_person = person in words.PEOPLE or person in words.PRONOUNS or person == WRITER
    return Cue(first, numeral.last, person if is_person else UNCLEAR)


def _cue_after(passage: Passage, numeral: Numeral) -> Cue | None:
    """ "34 years old", "52-year-old", "22 y/o", "34 yrs" on its own."""
    position = numeral.last
    at = position + 1 + (passage.word(position + 1) == "-")
    if passage.word(at) == "-":
        at += 1
    if passage.word(at) in ("f", "m") and passage.is_glued(at) and passage.stands_alone(numeral.first, at):
        return Cue(numeral.first, at, SOMEBODY)  # "44F"
    if passage.word(at) not in words.YEARS:
        is_announced = (
            passage.stands_first(numeral.first) and words.FUTURE_AFTER.begin_at(passage, position + 1) is not None
        ) or (passage.stands_first(numeral.first) and passage.word(position + 1) == "today")
        return Cue(numeral.first, position, SOMEBODY) if is_announced and could_be_age(numeral) else None
    rest = at + 1
    while passage.word(rest) in ("-", "/", "of", "."):
        rest += 1
    is_old = passage.word(rest) in words.OLD or (passage.word(rest) == "age" and passage.word(at + 1) == "of")
    is_alone = passage.stands_alone(numeral.first, at)
    if [passage.word(numeral.first - step) for step in (2, 1)] == ["i", "have"] and not passage.same_clause(at, at + 1):
        return Cue(numeral.first - 2, at, WRITER)  # "I have 41 years", said by many who learnt English later
    if not is_old and passage.word(at) != "yo" and not is_alone:
        return None
    last = rest if is_old else at
    follows = passage.word(last + 1)
    led_by_owner = passage.word(numeral.first - 1) in ("my", "our", "his", "her")
    if follows in words.PEOPLE and (led_by_owner or follows not in words.STRANGERS):
        return Cue(numeral.first, last, follows)
    if led_by_owner or (passage.word(numeral.first - 1) in ("a", "any", "every") and follows not in words.PEOPLE):
        return Cue(numeral.first, last, UNCLEAR)
    return Cue(numeral.first, last, person_near(passage, numeral.first) or SOMEBODY)


_BEFORE: tuple[Callable[[Passage, Numeral, int], Cue | None], ...] = (
    _bracketed,
    _of_writer,
    _labelled,
    _aged,
    _beside_person,
    _approximate_alone,
    _of_other,
)
"""Tried in this order with the position of the word that may be the cue."""
