"""Numbers in the token stream, in digits and in words, with every way customers group and point them."""

import re
from dataclasses import dataclass
from decimal import Decimal

from app.pipeline.grounding.text.passage import Passage

_LONGEST_DIGITS = 14
"""Characters. Longer numbers are no prices, ages or days."""
_LONGEST_WORD = 40
"""Characters of number words written together: "twothousand"."""

_WHOLE = re.compile(r"0|[1-9][0-9]*")
_GROUPED = re.compile(r"[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]{1,2})?")
_GROUPED_CONTINENTAL = re.compile(r"[1-9][0-9]{0,2}(?:\.[0-9]{3})+,[0-9]{2}")
_GROUPED_SWISS = re.compile(r"[1-9][0-9]{0,2}(?:'[0-9]{3})+(?:\.[0-9]{1,2})?")
_POINTED = re.compile(r"(?:0|[1-9][0-9]*)\.[0-9]{1,2}")
_COMMA_POINTED = re.compile(r"(?:0|[1-9][0-9]*),[0-9]{2}")
_MULTIPLIED = re.compile(r"(?:0|[1-9][0-9]*)(?:[.,][0-9]{1,2})?")

_UNITS = {
    word: value
    for value, word in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
        ]
    )
} | {"fourty": 40}
_TENS = {
    word: 10 * value
    for value, word in enumerate(
        ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], start=2
    )
}
_SCALES = {"hundred": 100, "thousand": 1000, "grand": 1000, "k": 1000, "million": 1_000_000}
_SLANG = {"fiver": 5, "tenner": 10, "monkey": 500, "pony": 25}
_SLANG_ANIMALS = frozenset({"monkey", "pony"})
_DOZEN = 12
_SMALL = _UNITS | _TENS
NUMBER_WORDS = _SMALL.keys() | _SCALES.keys() - {"k"}

_GLUED = re.compile("(?:" + "|".join(sorted(NUMBER_WORDS | {"and"}, key=len, reverse=True)) + ")+")
_PIECE = re.compile("|".join(sorted(NUMBER_WORDS | {"and"}, key=len, reverse=True)))
_STARTS = tuple(NUMBER_WORDS)

ORDINAL_UNITS = {
    word: value
    for value, word in enumerate(
        [
            "first",
            "second",
            "third",
            "fourth",
            "fifth",
            "sixth",
            "seventh",
            "eighth",
            "ninth",
            "tenth",
            "eleventh",
            "twelfth",
            "thirteenth",
            "fourteenth",
            "fifteenth",
            "sixteenth",
            "seventeenth",
            "eighteenth",
            "nineteenth",
            "twentieth",
        ],
        start=1,
    )
} | {"thirtieth": 30}

_HALF = Decimal("0.5")
_PARTS = {"half": _HALF, "quarter": Decimal("0.25")}
_FRACTIONS = {"½": Decimal("0.5"), "¼": Decimal("0.25"), "¾": Decimal("0.75")}


@dataclass(frozen=True)
class Numeral:
    """Tokens first..last, both included."""

    first: int
    last: int
    value: Decimal | None
    """None: written in a way that can be read as two numbers, or as none."""
    is_scaled: bool = False
    """With a word such as "thousand" or "k", which make it an amount rather than a count."""
    in_words: bool = False

    @property
    def whole(self) -> int | None:
        return int(self.value) if self.value is not None and self.value == self.value.to_integral_value() else None


def find_numerals(passage: Passage) -> list[Numeral]:
    """In reading order, none overlapping. Groups with spaces between are joined by money only."""
    starts = set(passage.numbers)
    for word in passage.all_words:
        if (
            word in _SMALL
            or word in _SLANG
            or word in ("hundred", "thousand", "grand", "half", "dozen", "pair")
            or _is_glued(word)
        ):
            starts.update(passage.places[word])
    numerals: list[Numeral] = []
    after = 0
    for position in sorted(starts):
        if position < after:
            continue
        numeral = _digits(passage, position) if passage.is_number(position) else _in_words(passage, position)
        if numeral is not None:
            numerals.append(numeral)
            after = numeral.last + 1
    return numerals


def read_number(text: str) -> Decimal | None:
    """None where the separators allow two readings, or none."""
    if any(_is_short_match(pattern, text) for pattern in (_WHOLE, _POINTED)):
        return Decimal(text)
    if _is_short_match(_GROUPED, text):
        return Decimal(text.replace(",", ""))
    if _is_short_match(_GROUPED_SWISS, text):
        return Decimal(text.replace("'", ""))
    if _is_short_match(_COMMA_POINTED, text):
        return Decimal(text.replace(",", "."))
    if _is_short_match(_GROUPED_CONTINENTAL, text):
        return Decimal(text.replace(".", "").replace(",", "."))
    return None


def times_of(word: str) -> int | None:
    """Of "x4"; None for any other word."""
    return int(word[1:]) if word[:1] == "x" and word[1:].isdecimal() else None


def join_space_groups(passage: Passage, numeral: Numeral) -> Numeral:
    """ "1 600" as one number: a group of up to three digits, then groups of exactly three, only spaces between."""
    text, last = passage.word(numeral.first), numeral.last
    if numeral.first != numeral.last or not (text.isdecimal() and len(text) <= 3):
        return numeral
    while _continues_group(passage, last + 1) and len(text) <= _LONGEST_DIGITS:
        last += 1
        text += passage.word(last).replace(",", ".")
    return _scaled(passage, numeral.first, last, text) if last > numeral.last else numeral


def read_ordinal(passage: Passage, position: int) -> tuple[int, int] | None:
    """ "tenth", "twenty-first": its number and the position of its last token."""
    word = passage.word(position)
    if word in ORDINAL_UNITS:
        return ORDINAL_UNITS[word], position
    if word not in ("twenty", "thirty"):
        return None
    unit_at = position + 1 + (passage.word(position + 1) == "-")
    unit = ORDINAL_UNITS.get(passage.word(unit_at))
    return (_TENS[word] + unit, unit_at) if unit is not None and unit < 10 else None


def _digits(passage: Passage, position: int) -> Numeral:
    return _scaled(passage, position, position, passage.word(position))


def _scaled(passage: Passage, first: int, last: int, text: str) -> Numeral:
    if passage.word(last + 1) in _FRACTIONS and passage.is_glued(last + 1) and text.isdecimal():
        last, text = last + 1, str(int(text) + _FRACTIONS[passage.word(last + 1)])
    scale = _SCALES.get(passage.word(last + 1))
    if scale is None or (passage.word(last + 1) == "k" and not passage.is_glued(last + 1)):
        return Numeral(first, last, read_number(text))
    value = Decimal(text.replace(",", ".")) * scale if _is_short_match(_MULTIPLIED, text) else None
    if value is None and (grouped := read_number(text)) is not None and scale == _SCALES["million"]:
        value = grouped * scale
    return Numeral(first, last + 1, value, is_scaled=True)


def _continues_group(passage: Passage, position: int) -> bool:
    if not passage.is_number(position) or passage.is_glued(position):
        return False
    if not passage.same_clause(position, position - 1):
        return False
    whole, _, decimals = passage.word(position).replace(",", ".").partition(".")
    return passage.word(position - 1).isdecimal() and len(whole) == 3 and whole.isdecimal() and len(decimals) in (0, 2)


def _is_short_match(pattern: re.Pattern[str], text: str) -> bool:
    return len(text) <= _LONGEST_DIGITS and pattern.fullmatch(text) is not None


def _is_glued(word: str) -> bool:
    return 5 < len(word) <= _LONGEST_WORD and word.startswith(_STARTS) and _GLUED.fullmatch(word) is not None


def _in_words(passage: Passage, first: int) -> Numeral | None:
    word = passage.word(first)
    if word in _SLANG:
        if word in _SLANG_ANIMALS and passage.word(first - 1) != "a":
            return None
        return Numeral(first, first, Decimal(_SLANG[word]), is_scaled=True, in_words=True)
    if word == "half":
        return _half_of(passage, first)
    if word == "dozen":
        return _dozen(passage, first)
    if word == "pair":
        is_counted = passage.word(first - 1) == "a" and passage.word(first + 1) == "of"
        return Numeral(first - 1, first, Decimal(2), in_words=True) if is_counted else None
    words, ends = _number_words(passage, first)
    if words == ["one"]:
        return None  # "the first one", "one moment"
    begins_with_article = words[0] in _SCALES
    if begins_with_article and passage.word(first - 1) not in ("a", "an"):
        return None  # "hundreds", "a few thousand"
    value, used, is_scaled = _value(words)
    if value is None or used == 0:
        return Numeral(first, ends[-1], None, is_scaled, in_words=True)
    is_whole = used == len(words)
    start = first - 1 if begins_with_article else first
    return Numeral(start, ends[used - 1], Decimal(value) if is_whole else None, is_scaled, in_words=True)


def _dozen(passage: Passage, first: int) -> Numeral | None:
    """ "a dozen", "half a dozen"."""
    if passage.word(first - 1) != "a":
        return None
    is_half = passage.word(first - 2) == "half"
    return Numeral(first - 1 - is_half, first, Decimal(_DOZEN // 2 if is_half else _DOZEN), in_words=True)


def _half_of(passage: Passage, first: int) -> Numeral | None:
    """ "half a grand"."""
    is_half = passage.word(first + 1) == "a" and passage.word(first + 2) in ("grand", "thousand", "million")
    if not is_half:
        return None
    return Numeral(first, first + 2, _HALF * _SCALES[passage.word(first + 2)], is_scaled=True, in_words=True)


def _number_words(passage: Passage, first: int) -> tuple[list[str], list[int]]:
    """The number words from first on, "and" and hyphens dropped, and the token each ends at."""
    words: list[str] = []
    ends: list[int] = []
    position = first
    while True:
        word = passage.word(position)
        if word in NUMBER_WORDS:
            words.append(word)
            ends.append(position)
        elif _is_glued(word):
            pieces = [piece for piece in _PIECE.findall(word) if piece != "and"]
            words.extend(pieces)
            ends.extend([position] * len(pieces))
        else:
            break
        follows = position + 1
        if passage.word(follows) == "-" or (passage.word(follows) == "and" and word in _SCALES):
            follows += 1
        elif [passage.word(follows), passage.word(follows + 1)] == ["and", "a"] and passage.word(follows + 2) in _PARTS:
            scale_at = follows + 3
            if passage.word(scale_at) in ("thousand", "grand", "million"):  # "two and a half thousand"
                return [*words, passage.word(follows + 2), passage.word(scale_at)], [*ends, scale_at, scale_at]
        if not (passage.word(follows) in NUMBER_WORDS or _is_glued(passage.word(follows))):
            break
        position = follows
    return words, ends


def _value(words: list[str]) -> tuple[Decimal | None, int, bool]:
    """Value, how many words belong to it, and whether a scale word is among them. None: the words make two readings."""
    total = current = Decimal(0)
    previous = Decimal(0)
    is_scaled = False
    if words and words[0] in _SCALES:
        current = Decimal(1)
    for used, word in enumerate(words):
        if word in _PARTS:
            current += _PARTS[word]
        elif word == "hundred":
            current = (current or Decimal(1)) * 100
            is_scaled = True
            previous = Decimal(100)
        elif word in _SCALES:
            total += (current or Decimal(1)) * _SCALES[word]
            current = previous = Decimal(0)
            is_scaled = True
        else:
            number = Decimal(_SMALL[word])
            fits = previous in (0, 100) or (previous >= 20 and number < 10)
            if not fits:
                return None, used, is_scaled  # "two fifty", "nineteen ninety"
            current += number
            previous = number
    return total + current, len(words), is_scaled
