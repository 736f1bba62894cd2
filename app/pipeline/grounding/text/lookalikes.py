"""Numbers that are no fact: phone numbers, references, addresses, measures, durations, footnotes."""

from collections.abc import Iterator

from app.pipeline.grounding.text.numerals import Numeral
from app.pipeline.grounding.text.passage import Passage, word_set

_NAMED_BY_NUMBER = word_set(
    """
    ref refs reference references number numbers nr nos invoice id flat room floor apartment apt suite ext
    extension page level grade stage phase tel telephone phone mobile fax postcode mob cell landline bay ward
    gate platform route bus channel bp ratio vision eyesight version chapter unit pin code zip box po covid type
    category band tier size
    """
)
_NUMBERED_THINGS = word_set(
    """
    order booking account policy patient case ticket customer member membership job quote receipt nhs insurance
    passport card sort licence license registration street road lane avenue house
    """
)
_LINKS = frozenset({"no", "nr", "#", ":", ".", "is", "=", "id", "number", "are", "ending", "was", "in", "'s", "ref"})
_LONGEST_CUE = 5
"""Tokens looked back over from a number to the word that names it."""
_STREETS = word_set(
    """
    street st road rd lane ln avenue ave drive close crescent way terrace court place gardens grove mews row
    gate park square
    """
)

DURATION_UNITS = word_set(
    """
    hour hours hr hrs minute minutes min mins day days night nights week weeks month months wk wks sec secs
    seconds
    """
)
MEASURES = DURATION_UNITS | word_set(
    """
    foot feet ft inch inches cm mm metre metres meter meters km mile miles kg kgs kilo kilos stone st lb lbs mg
    ml mls g gram grams litre litres degrees bpm centimetres stones units mmol mmhg dioptres calories steps
    """
)
_COUNTED = word_set(
    """
    kids children cats dogs people adults adult siblings brothers sisters daughters sons friends times
    pregnancies patients stars reviews stops flights floors bedrooms reasons things questions others colleagues
    grandchildren star star-rated minute-walk
    """
)
"""What is counted without being bought."""
_PHONE_DIGITS = range(9, 16)
_PHONE_SEPARATORS = frozenset("-()/.")
_LONGEST_NATIONAL_PHONE = 11
_POSTCODE_LETTERS = 2


def find_lookalikes(passage: Passage, numerals: list[Numeral]) -> set[int]:
    """Positions of the number tokens that stand for something else than an age, a price, a date or a time."""
    found: set[int] = set()
    for numeral in numerals:
        position = numeral.first
        if position in found or passage.is_currency(position - 1):
            continue
        if not numeral.in_words:
            found.update(_phone(passage, position))
            if _is_reference(passage, position):
                found.update(range(position, numeral.last + 1))
                found.update(_further_groups(passage, numeral.last + 1))
            elif _is_footnote(passage, position) or _is_address(passage, numeral):
                found.update(range(position, numeral.last + 1))
            if _is_year(passage, position):
                found.add(position)
            if _is_postcode(passage, position) or _is_pressure(passage, position):
                found.add(position)
        found.update(_measure(passage, numeral))
    return found


def _phone(passage: Passage, position: int) -> list[int]:
    text = passage.word(position)
    has_plus = passage.word(position - 1) == "+" and passage.is_glued(position)
    if not (has_plus or text.startswith("0")) and _digit_count(text) < _PHONE_DIGITS.start:
        return []
    if any(mark in text for mark in ":/,"):
        return []
    limit = _PHONE_DIGITS.stop - 1 if has_plus else _LONGEST_NATIONAL_PHONE
    positions: list[int] = []
    total = 0
    for part in _number_run(passage, position):
        total += _digit_count(passage.word(part))
        if positions and total > limit:
            total -= _digit_count(passage.word(part))
            break
        positions.append(part)
    return positions if total >= _PHONE_DIGITS.start else []


def _number_run(passage: Passage, position: int) -> Iterator[int]:
    while passage.is_number(position):
        if passage.is_glued(position + 1) and passage.is_word(position + 1):
            return
        yield position
        position += 1
        while passage.word(position) in _PHONE_SEPARATORS and passage.word(position):
            position += 1


def _digit_count(text: str) -> int:
    return sum(character.isdecimal() for character in text)


def _is_reference(passage: Passage, position: int) -> bool:
    """A number right after the word that names it: "flat 3", "order no. 118", "ref: 22"."""
    if passage.word(position - 1) == "#":
        return True
    if passage.is_glued(position) and passage.word(position - 1) == "-" and passage.is_word(position - 2):
        return passage.is_glued(position - 1)  # "AB-4471"
    for distance in range(1, _LONGEST_CUE):
        word = passage.word(position - distance).removesuffix("'s")
        if word in _NAMED_BY_NUMBER:
            return True
        if word in _NUMBERED_THINGS:
            return distance > 1 and passage.word(position - distance + 1) in _LINKS - {"is", "are", "in", "was"}
        if word not in _LINKS:
            return False
    return False


def _further_groups(passage: Passage, position: int) -> Iterator[int]:
    """ "NHS no 943 476 5919": groups of three or more digits with nothing but spaces between."""
    while passage.word(position).isdecimal() and len(passage.word(position)) >= 3 and passage.is_number(position):
        if passage.is_word(position + 1) and passage.word(position + 1) in ("pounds", "quid"):
            return
        yield position
        position += 1


def _is_footnote(passage: Passage, position: int) -> bool:
    return (
        passage.word(position - 1) == "["
        and passage.word(position + 1) == "]"
        and passage.is_glued(position - 1)
        and passage.is_glued(position)
    )


def _is_address(passage: Passage, numeral: Numeral) -> bool:
    """ "12 Mill Lane", "live at 34"."""
    if any(passage.word(numeral.last + step) in _STREETS for step in (2, 3)) and passage.is_word(numeral.last + 1):
        return passage.word(numeral.last + 1) not in ("years", "on", "and", "pounds", "at", "by", "the", "in", "for")
    led = [passage.word(numeral.first - step) for step in (1, 2)]
    return led[0] == "at" and led[1] in ("live", "lives", "living")


def _is_year(passage: Passage, position: int) -> bool:
    """ "since 2015", "back in 1979"."""
    text = passage.word(position)
    is_led = passage.word(position - 1) in ("since", "in", "from", "until", "before", "during", "year", "circa")
    is_amount = passage.word(position + 1) in ("pounds", "quid", "pound") or passage.is_currency(position + 1)
    return is_led and len(text) == 4 and text.isdecimal() and text[:2] in ("19", "20") and not is_amount


def _is_postcode(passage: Passage, position: int) -> bool:
    """ "M1 4AB", "SW1A 2AA": digits glued to two letters, after a word with a digit."""
    follows = passage.word(position + 1)
    is_tail = passage.is_glued(position + 1) and len(follows) == _POSTCODE_LETTERS and follows.isalpha()
    before = passage.word(position - 1)
    return is_tail and before[:1].isalpha() and any(character.isdecimal() for character in before)


def _is_pressure(passage: Passage, position: int) -> bool:
    """ "120/80"."""
    upper, slash, lower = passage.word(position).partition("/")
    return bool(slash) and upper.isdecimal() and lower.isdecimal() and len(upper) == 3 and len(lower) in (2, 3)


def _measure(passage: Passage, numeral: Numeral) -> list[int]:
    position = numeral.last
    unit_at = position + 1 + (passage.word(position + 1) == "-")
    unit = passage.word(unit_at)
    positions = list(range(numeral.first, numeral.last + 1))
    if unit in _COUNTED and passage.word(numeral.first - 1) not in ("for", "x"):
        return positions
    if unit not in MEASURES or (unit == "st" and passage.is_glued(unit_at)):
        return []
    if passage.word(numeral.first - 1) == "in" and unit in DURATION_UNITS:
        return []  # "in 20 minutes", "in three days" are moments
    if unit in ("hours", "hrs", "hr") and len(passage.word(position)) == 4 and passage.word(position).isdecimal():
        return []  # "1430 hours"
    rest = unit_at + 1
    if passage.word(rest) == "and":
        rest += 1
    if passage.word(numeral.first - 1) in ("to", "-", "or") and passage.is_number(numeral.first - 2):
        positions.append(numeral.first - 2)  # "8 to 10 weeks"
    is_height = unit in {"foot", "feet", "ft", "stone", "st"} and passage.is_number(rest)
    return [*positions, rest] if is_height else positions
