"""What leaves the total open although every price was read."""

from collections.abc import Sequence

from app.pipeline.grounding.discourse.corrections import Strength
from app.pipeline.grounding.facts import FactStatus
from app.pipeline.grounding.mentions import MoneyKind, MoneyMention
from app.pipeline.grounding.money import words
from app.pipeline.grounding.money.lines import Doubt, Line
from app.pipeline.grounding.money.quantities import Quantities
from app.pipeline.grounding.money.relations import DROPPED
from app.pipeline.grounding.money.sums import sum_of
from app.pipeline.grounding.scan import Scan
from app.pipeline.grounding.text.passage import Passage

_ADDED_REACH = 5
"""Tokens after "plus" within which the price of what is added must stand."""
_LARGEST_HARMLESS_STRAY = 99


def _ambiguous(note: str) -> Doubt:
    return Doubt(FactStatus.AMBIGUOUS, note)


RANGE = _ambiguous("an amount is a range, a bound, an estimate or an alternative")
FOREIGN = _ambiguous("a price in another currency has no value in pounds")
UNREADABLE = _ambiguous("an amount is written in a way that can be read twice")
_DISCOUNT = _ambiguous("something is taken off and the final price is not stated")
_VAT = _ambiguous("VAT comes on top and the gross price is not stated")
_QUANTITY = _ambiguous("a quantity or a price per something leaves the total open")
_UNPRICED = _ambiguous("something is added without a price")
_REOPENED = _ambiguous("words around the prices change what they come to")
_STRAY = _ambiguous("a number near the prices is unexplained")
_SUGGESTED = _ambiguous("the assistant named another price afterwards")
_NOT_PAID = _ambiguous("a deposit is still to be paid, and whether on top is not clear")
_TAKEN_BACK = _ambiguous("a price is named again as one that does not count")
_REFUSED = (MoneyKind.PAST, MoneyKind.CORRECTED, MoneyKind.RANGE)
_WHICH = _ambiguous("it is not clear which price was taken back")


def first_doubt(everything: Sequence[tuple[Scan, MoneyMention]]) -> Doubt | None:
    notes = {
        MoneyKind.FOREIGN: FOREIGN,
        MoneyKind.UNREADABLE: UNREADABLE,
        MoneyKind.RANGE: RANGE,
        MoneyKind.DISCOUNT: _DISCOUNT,
    }
    for kind, note in notes.items():
        if any(mention.kind is kind and not _converts(scan, mention, everything) for scan, mention in everything):
            return note
    is_net_open = any(m.kind is MoneyKind.NET and m.note != "settled" for _, m in everything)
    is_gross_stated = any(m.kind is MoneyKind.COMPONENT for _, m in everything) and not any(
        m.kind is MoneyKind.NET and m.value is not None and m.note != "settled" for _, m in everything
    )
    if any(m.kind is MoneyKind.DEPOSIT and not _is_paid(scan.passage, m) for scan, m in everything) and any(
        m.kind is MoneyKind.COMPONENT for _, m in everything
    ):
        return _NOT_PAID
    if _is_taken_back(everything):
        return _TAKEN_BACK
    return _VAT if is_net_open and not (is_gross_stated and _vat_is_included(everything)) else None


def _is_paid(passage: Passage, mention: MoneyMention) -> bool:
    """A deposit still to be paid may come on top of the other amounts, or off them."""
    near = {passage.word(at) for at in range(mention.first - 6, mention.last + 7)}
    return mention.value is None or not words.PAID.isdisjoint(near)


def _is_taken_back(everything: Sequence[tuple[Scan, MoneyMention]]) -> bool:
    """ "It's £370. ... Wait, £370 was last year's price": a price is named again, and not as one asked for."""
    asked = [(scan.message, m.first, m.value) for scan, m in everything if m.kind is MoneyKind.COMPONENT]
    refused = [(scan.message, m.first, m.value) for scan, m in everything if m.kind in _REFUSED and m.note != DROPPED]
    return any(value == other and at < later for *at, value in asked for *later, other in refused)


def _converts(scan: Scan, mention: MoneyMention, everything: Sequence[tuple[Scan, MoneyMention]]) -> bool:
    """ "£620 (about €730)": a foreign amount in brackets right after the price in pounds only converts it."""
    at = mention.first - 1
    while scan.passage.word(at) in (
        "about",
        "around",
        "roughly",
        "approx",
        "that's",
        "thats",
        "is",
        "=",
        "or",
        "~",
        "so",
    ):
        at -= 1
    if mention.kind is not MoneyKind.FOREIGN or scan.passage.word(at) != "(":
        return False
    return any(where is scan and m.last == at - 1 and m.kind is MoneyKind.COMPONENT for where, m in everything)


def _vat_is_included(everything: Sequence[tuple[Scan, MoneyMention]]) -> bool:
    """ "£600 including 20 % VAT"."""
    return all(
        words.GROSS_AFTER.begin_at(scan.passage, mention.first - 1) is not None
        for scan, mention in everything
        if mention.kind is MoneyKind.NET and mention.note != "settled"
    )


def doubt_of_corrections(scans: Sequence[Scan], money: Sequence[Sequence[MoneyMention]]) -> Doubt | None:
    """A price after a second thought, in a turn after several, may replace any of them."""
    for index in range(1, len(scans)):
        fresh = [m for m in money[index] if m.kind is MoneyKind.COMPONENT]
        earlier = [m for turn in range(index) for m in money[turn] if m.kind is MoneyKind.COMPONENT]
        leads = any(
            0 <= m.first - thought.stop <= 6 and thought.strength is Strength.STRONG
            for m in fresh
            for thought in scans[index].second_thoughts
        )
        has_own = any(m.kind is MoneyKind.CORRECTED for m in money[index])
        if leads and len(earlier) > 1 and not has_own:
            return _WHICH
    return None


def open_total(
    scans: Sequence[Scan],
    counted: Sequence[Quantities],
    lines: Sequence[Line],
    everything: Sequence[tuple[Scan, MoneyMention]],
    age_positions: frozenset[tuple[int, int]],
) -> Doubt | None:
    if any(line.mention.quantity is None for line in lines) or any(each.is_open for each in counted):
        return _QUANTITY
    for scan, quantities in zip(scans, counted, strict=True):
        own = [mention for where, mention in everything if where is scan]
        if _reopened(scan, own):
            return _REOPENED
        if _unpriced(scan.passage, own):
            return _UNPRICED
        if _stray(scan, own, quantities.used, age_positions):
            return _STRAY
    return None


def _reopened(scan: Scan, own: Sequence[MoneyMention]) -> bool:
    passage = scan.passage
    harmless = words.HARMLESS.positions(passage)
    if any(found.start not in harmless for found in words.OPEN_ANYWHERE.find(passage)):
        return True
    sentences = {passage.sentence(m.first) for m in own if m.kind is MoneyKind.COMPONENT}
    if not sentences:
        return False
    settled = {at for m in own for at in m.positions}
    if not words.REDUCED_OR_TAXED.isdisjoint(passage.all_words) and not _is_reckoned_in(scan, own):
        return True
    has_unit = any((m.quantity or 1) > 1 for m in own)
    gross = {at for found in words.GROSS_AFTER.find(passage) for at in found}
    for found in words.OPEN_SENTENCE.find(passage):
        if found.start in harmless or found.start in settled or found.start in gross:
            continue
        if passage.sentence(found.start) not in sentences:
            continue
        word = passage.word(found.start)
        if has_unit and word in (
            "per",
            "monthly",
            "weekly",
            "fortnightly",
            "instalments",
            "instalment",
            "installments",
        ):
            continue
        return True
    return False


def _is_reckoned_in(scan: Scan, own: Sequence[MoneyMention]) -> bool:
    """A final or gross price is stated, or each amount is said to include VAT, or the word belongs to a credit."""
    if any(m.note in ("final", "gross") for m in own):
        return True
    passage = scan.passage
    said = {at for found in words.GROSS_AFTER.find(passage) for at in found} | scan.orders
    said |= {at for m in own if m.kind is MoneyKind.DEPOSIT for at in range(m.first - 4, m.last + 4)}
    return all(at in said for word in words.REDUCED_OR_TAXED & passage.all_words for at in passage.places[word])


def _unpriced(passage: Passage, own: Sequence[MoneyMention]) -> bool:
    """ "£400 plus the scan": what is added must bring its price within a few words."""
    starts = {mention.first for mention in own}
    sentences = {passage.sentence(mention.first) for mention in own}
    adding = {found.start for found in words.ADDS_ANYWHERE.find(passage)}
    for found in [*words.ADDS.find(passage), *words.ADDS_ANYWHERE.find(passage)]:
        if passage.sentence(found.start) not in sentences and found.start not in adding:
            continue
        if passage.is_glued(found.start) and passage.word(found.start) == "+" and passage.is_number(found.start + 1):
            continue
        reach = range(found.stop, found.stop + _ADDED_REACH)
        is_vat = passage.word(found.stop) in ("vat", "tax") or passage.word(found.stop + 2) == "vat"
        if not is_vat and starts.isdisjoint(reach):
            return True
    return False


def _stray(
    scan: Scan, own: Sequence[MoneyMention], used: frozenset[int], age_positions: frozenset[tuple[int, int]]
) -> bool:
    passage = scan.passage
    sentences = {passage.sentence(m.first) for m in own}
    for numeral in scan.strays:
        if numeral.first in used or (scan.message, numeral.first) in age_positions:
            continue
        if numeral.in_words:
            if any(m.last + 1 == numeral.first and passage.same_clause(m.last, numeral.first) for m in own):
                return True  # "ninety-nine pounds ninety-nine"
            continue
        number = numeral.whole
        is_small = number is not None and number <= _LARGEST_HARMLESS_STRAY
        is_near = passage.sentence(numeral.first) in sentences and number != 1
        if (is_near and own) or not is_small:
            return True
    return False


def suggested(scans: Sequence[Scan], assistant: Sequence[Scan], lines: Sequence[Line]) -> Doubt | None:
    """Whether the assistant, after the customer last named a price, named another one."""
    spoken = [line.scan.message for line in lines]
    if not spoken:
        return None
    known = {line.pence for line in lines} | {line.total for line in lines} | {sum_of(lines)}
    known |= {mention.value for scan in scans for mention in scan.money if mention.value is not None}
    named = [
        mention.value
        for scan in assistant
        if scan.message > max(spoken)
        for mention in scan.money
        if mention.kind is MoneyKind.COMPONENT
    ]
    return _SUGGESTED if any(value not in known for value in named) else None
