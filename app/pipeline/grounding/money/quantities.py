"""How many of an item an amount is the price of: "two £900 sessions", "£150 a month for 6 months", "£400 x 3"."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.pipeline.grounding.mentions import Mention, MoneyKind, MoneyMention
from app.pipeline.grounding.money import words
from app.pipeline.grounding.scan import Scan
from app.pipeline.grounding.text.numerals import Numeral, times_of
from app.pipeline.grounding.text.passage import Passage, word_set

_MOST = 60
"""A larger number is no quantity of a consultation."""
_TIMES = frozenset({"x", "×", "*", "times", "@"})
_BETWEEN = word_set(
    """
    at of the your those these separate more further different extra additional individual identical lots x × *
    @ a single
    """
)
_ROUGHLY = frozenset({"about", "around", "roughly", "maybe", "approx", "approximately", "say", "perhaps", "nearly"})
_ADJECTIVE_REACH = 3
_MONTHS_A_YEAR = 12


@dataclass(frozen=True)
class Quantities:
    """The amounts of one message with their quantities, and what of the text's numbers they used."""

    money: tuple[MoneyMention, ...]
    used: frozenset[int]
    """Positions of numerals that count items."""
    is_open: bool
    """Something is counted, and how it bears on the prices is not clear."""


def count_items(scan: Scan) -> Quantities:
    used: set[int] = set()
    money: list[MoneyMention] = []
    for mention in scan.money:
        if mention.kind is not MoneyKind.COMPONENT:
            money.append(mention)
            continue
        quantity, positions = _quantity(scan, mention)
        used.update(positions)
        money.append(replace(mention, quantity=quantity))
    is_open = _is_open(scan, money, used)
    return Quantities(tuple(money), frozenset(used), is_open)


def answered_counts(scans: Sequence[Scan], counted: list[Quantities]) -> list[Quantities]:
    """ "£500 a month", "for how many months?", "three months": a later turn tells how many."""
    for index, quantities in enumerate(counted):
        open_items = [m for m in quantities.money if m.kind is MoneyKind.COMPONENT and m.quantity is None]
        if len(open_items) != 1:
            continue
        item = open_items[0]
        unit = words.UNIT_AFTER.begin_at(scans[index].passage, item.last + 1)
        nouns = {word for at in unit or () if (word := scans[index].passage.word(at)) in words.PERIODS}
        wanted = words.PERIODS[nouns.pop()] if nouns else None
        for later in range(index + 1, len(scans)):
            last_sentence = max((token.sentence for token in scans[later].passage.tokens), default=0)
            counts = _counts(scans[later], 0, last_sentence, wanted)
            found = _as_quantity(counts[0]) if len(counts) == 1 else None
            if found is not None:
                money = tuple(replace(m, quantity=found[0]) if m is item else m for m in quantities.money)
                counted[index] = replace(quantities, money=money)
                used = counted[later].used | set(found[1])
                counted[later] = replace(counted[later], used=used, is_open=False)
                break
    return counted


def _quantity(scan: Scan, mention: MoneyMention) -> tuple[int | None, tuple[int, ...]]:
    passage = scan.passage
    found = _before(scan, mention) or _after(scan, mention)
    if found is not None:
        return found
    unit = words.UNIT_AFTER.begin_at(passage, _after_at(passage, mention)) if _is_unit(passage, mention) else None
    is_led = words.UNIT_BEFORE.end_before(passage, mention.first) or passage.word(mention.first - 1) == "each"
    if unit is None and not is_led:
        return 1, ()
    return _of_unit(scan, mention, unit)


def _after_at(passage: Passage, mention: MoneyMention) -> int:
    return mention.last + 1 + (passage.word(mention.last + 1) in (")", ","))


def _is_unit(passage: Passage, mention: MoneyMention) -> bool:
    """ "£80 each", not "£80, each"? both; but "£80 a consultation" counts and "£80 a lot" does not."""
    found = words.UNIT_AFTER.begin_at(passage, mention.last + 1)
    if found is None and passage.word(mention.last + 1) in (")", ","):
        found = words.UNIT_AFTER.begin_at(passage, mention.last + 2)
        return found is not None and passage.word(found.start) in ("each", "apiece", "per")
    return found is not None


def _before(scan: Scan, mention: MoneyMention) -> tuple[int, tuple[int, ...]] | None:
    """ "two £900 sessions", "3 x £400", "three at £4,020", "a course of six sessions at £80"."""
    passage = scan.passage
    at = mention.first - 1
    steps = 0
    saw_link = False
    while passage.word(at) in _BETWEEN and steps < _ADJECTIVE_REACH:
        saw_link = saw_link or passage.word(at) in ("at", "x", "×", "*", "@")
        at, steps = at - 1, steps + 1
    if saw_link and passage.word(at) in words.COUNTED:
        at -= 1
        if passage.is_word(at) and _ending_at(scan, at) is None:
            at -= 1  # "six laser sessions at"
    if saw_link and (count := _x_count(passage.word(at))):
        return count, (at,)  # "x2 @ £6,450"
    numeral = _ending_at(scan, at)
    if numeral is None or not passage.same_clause(numeral.first, mention.first):
        return None
    if not saw_link and steps == 0 and passage.is_glued(mention.first):
        return None
    return _as_quantity(numeral)


def _after(scan: Scan, mention: MoneyMention) -> tuple[int, tuple[int, ...]] | None:
    """ "£400 x 3", "£400 (x2)", "£400 times three"."""
    passage = scan.passage
    unit = words.UNIT_AFTER.begin_at(passage, mention.last + 1)
    at = unit.stop if unit is not None else mention.last + 1
    for _ in range(3):
        if passage.word(at) in ("(", ")", "each", ","):
            at += 1
    word = passage.word(at)
    if count := _x_count(word):
        return count, (at,)
    if word in _TIMES:
        numeral = _starting_at(scan, at + 1)
        return _as_quantity(numeral) if numeral is not None else None
    return None


def _x_count(word: str) -> int:
    """Of "x4"; 0 where it is no quantity."""
    count = times_of(word) or 0
    return count if count <= _MOST else 0


def _of_unit(scan: Scan, mention: MoneyMention, unit: range | None) -> tuple[int | None, tuple[int, ...]]:
    """The one number in reach that counts what the price is per."""
    passage = scan.passage
    unit_words = {passage.word(at) for at in unit} if unit is not None else set()
    nouns = next((words.PERIODS[word] for word in unit_words if word in words.PERIODS), None)
    if "a" in unit_words or "an" in unit_words or "per" in unit_words or "/" in unit_words:
        following = passage.word(unit.stop) if unit is not None else ""
        nouns = nouns or words.PERIODS.get(following)
    sentence = passage.sentence(mention.first)
    if _shares_unit(scan, mention):
        return None, ()
    for reach in (0, 1):
        counts = _counts(scan, sentence - reach, sentence + reach, nouns)
        if len({count.whole for count in counts}) == 1:
            return _as_quantity(counts[0]) or (None, ())
        if counts:
            return None, ()
    near = [passage.word(at) for at in range(max(0, mention.first - 14), min(len(passage.words), mention.last + 10))]
    if nouns is None and ("both" in near or "pair" in near):
        return 2, ()
    if nouns is not None and "months" in nouns and _says_a_year(near):
        return _MONTHS_A_YEAR, ()
    return None, ()


def _shares_unit(scan: Scan, mention: MoneyMention) -> bool:
    """Several prices per something in one sentence: a count further off could be of any of them."""
    passage = scan.passage
    units = [
        other
        for other in scan.money
        if other.kind is MoneyKind.COMPONENT
        and passage.sentence(other.first) == passage.sentence(mention.first)
        and words.UNIT_AFTER.begin_at(passage, other.last + 1) is not None
    ]
    return len(units) > 1


def _says_a_year(near: Sequence[str]) -> bool:
    return any(near[at : at + 3] in (["for", "a", "year"], ["over", "a", "year"]) for at in range(len(near)))


def _counts(scan: Scan, first: int, last: int, nouns: frozenset[str] | None) -> list[Numeral]:
    found = []
    for numeral in scan.numerals:
        passage = scan.passage
        if passage.word(numeral.first - 1) in _ROUGHLY:
            continue
        if not first <= passage.sentence(numeral.first) <= last or _as_quantity(numeral) is None:
            continue
        if numeral.first in scan.taken and not _is_duration(scan, numeral):
            continue
        follows = [passage.word(numeral.last + step) for step in (1, 2, 3)]
        wanted = nouns if nouns is not None else words.COUNTED
        if any(word in wanted for word in follows[: 3 if nouns is None else 2]):
            found += [*_alternatives(scan, numeral), numeral]
    return found


def _alternatives(scan: Scan, numeral: Numeral) -> list[Numeral]:
    """ "three or four hours", "two to three sessions": the other number."""
    if scan.passage.word(numeral.first - 1) not in ("or", "to", "-", "and", "/"):
        return []
    return [other for other in scan.numerals if other.last == numeral.first - 2]


def _is_duration(scan: Scan, numeral: Numeral) -> bool:
    """ "for 6 months": set apart as a measure, and still a count of months."""
    return scan.passage.word(numeral.last + 1) in words.COUNTED and not any(
        numeral.first in mention.positions for mention in _mentions(scan)
    )


def _is_open(scan: Scan, money: Sequence[MoneyMention], used: set[int]) -> bool:
    components = [mention for mention in money if mention.kind is MoneyKind.COMPONENT]
    passage = scan.passage
    sentences = {passage.sentence(mention.first) for mention in components}
    for numeral in scan.numerals:
        is_near = passage.sentence(numeral.first) in sentences
        is_times = is_near and passage.word(numeral.last + 1) == "times"
        is_other = numeral.first in scan.taken and not is_times
        if numeral.first in used or _as_quantity(numeral) is None or is_other:
            continue
        if any(numeral.first == bare.first for bare in scan.bare_ages):
            continue
        follows = [passage.word(numeral.last + step) for step in (1, 2)]
        is_counted = any(word in words.COUNTED for word in follows)
        is_factor = passage.word(numeral.first - 1) in ("times", "x", "×", "*")
        if not is_counted and not is_factor and not (is_near and numeral.in_words):
            continue
        if (
            numeral.whole == len(components)
            or _is_for(passage, numeral)
            or _leads_to_total(passage, numeral, components)
        ):
            continue
        return True
    return False


def _is_for(passage: Passage, numeral: Numeral) -> bool:
    """ "£900 for two sessions": the price of them together."""
    at = numeral.first - 1
    while passage.word(at) in ("the", "all", "these", "those", "my"):
        at -= 1
    return passage.word(at) == "for"


def _leads_to_total(passage: Passage, numeral: Numeral, components: Sequence[MoneyMention]) -> bool:
    """ "six sessions for £900"."""
    for mention in components:
        between = range(numeral.last + 1, mention.first)
        if 0 < len(between) <= 5 and passage.word(mention.first - 1) == "for":
            return True
    return False


def _ending_at(scan: Scan, position: int) -> Numeral | None:
    return next((n for n in scan.numerals if n.last == position and _is_free(scan, n)), None)


def _starting_at(scan: Scan, position: int) -> Numeral | None:
    return next((n for n in scan.numerals if n.first == position and _is_free(scan, n)), None)


def _is_free(scan: Scan, numeral: Numeral) -> bool:
    others = [mention for mention in _mentions(scan) if not isinstance(mention, MoneyMention)]
    return _as_quantity(numeral) is not None and not any(numeral.first in mention.positions for mention in others)


def _mentions(scan: Scan) -> list[Mention[Any]]:
    return [*scan.money, *scan.ages, *scan.dates, *scan.times]


def _as_quantity(numeral: Numeral) -> tuple[int, tuple[int, ...]] | None:
    whole = numeral.whole
    if whole is None or not 1 < whole <= _MOST or numeral.is_scaled:
        return None
    return whole, tuple(range(numeral.first, numeral.last + 1))
