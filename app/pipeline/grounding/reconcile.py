"""What the model extracted against what the text says. The model proposes; only what the text bears out is verified."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, time
from decimal import Decimal
from typing import Any, TypeVar

from app.pipeline.grounding.age.cues import OLDEST_YEARS
from app.pipeline.grounding.facts import Agreement, Evidence, Fact, FactStatus
from app.pipeline.grounding.money.lines import Doubt, Line
from app.pipeline.grounding.money.prices import PriceReading
from app.pipeline.grounding.readings import Reading
from app.pipeline.grounding.scan import Scan
from app.pipeline.grounding.text.normalise import normalise
from app.pipeline.grounding.text.tokens import tokenise
from app.pipeline.grounding.when.appointments import DAY_OF_MOMENT

V = TypeVar("V")
When = TypeVar("When", date, time)

_NOTHING = frozenset({"", "null", "none", "n/a", "not specified", "not stated", "unknown", "-"})
"""Words with which models say that there is nothing."""

_ARTICLES = frozenset({"the", "on", "at", "le", "der", "el"})

MOST_COMPONENTS = 10
_LARGEST_POUNDS = Decimal(100_000_000)

AGREES = "the text and the model say the same"
COMPLETED = "read from the text; the model left it out"
OVERRULED = "read from the text; the model mistook another number for it"
_UNSUPPORTED = "extracted, but the text does not say it"
_DIFFERENT = "the text says another one than was extracted"
_NOT_EXTRACTED = "the text may mention one, and none was extracted"
_IMPOSSIBLE = "no such value"
_LEFT_OUT = "the text has an amount that is neither a component nor their total"


def reconcile_age(reading: Reading[int], extracted: int | None, beside: tuple[Decimal, ...]) -> Fact[int]:
    """beside: what the model put among the prices."""
    if extracted is not None and not 0 <= extracted <= OLDEST_YEARS and not reading.is_plain:
        return Fact(None, FactStatus.IMPOSSIBLE, reading.evidence, _IMPOSSIBLE)
    is_mistake = reading.is_computed or extracted in reading.explained
    is_beside = any(each.is_finite() and each == reading.value for each in beside)
    return _reconcile(
        reading,
        extracted,
        extracted == reading.value,
        is_mistake,
        may_complete=reading.is_computed or is_beside,
    )


def reconcile_when(
    reading: Reading[When],
    extracted: str | None,
    beside: str | None,
    values_of: Callable[[str], list[When | None]],
    scans: Sequence[Scan],
) -> Fact[When]:
    """values_of reads the days, or the hours, that words name; beside: what the model put into the other field."""
    if extracted is None or extracted.strip().lower() in _NOTHING:
        is_beside = beside is not None and reading.is_settled and reading.value in values_of(beside)
        is_moment = reading.note == DAY_OF_MOMENT
        return _reconcile(replace(reading, is_plain=is_beside or is_moment), None, agrees=False, is_mistake=False)
    if reading.is_settled and any(extracted.strip() == each.text for each in reading.evidence):
        return _reconcile(reading, extracted, agrees=True, is_mistake=False)
    values = values_of(extracted)
    agrees = reading.value is not None and reading.value in values
    is_copied = _is_part_of(extracted, reading.evidence) or (not values and _is_in_text(extracted, scans))
    is_mistake = bool(values) and all(value in reading.explained for value in values)
    return _reconcile(reading, extracted, agrees or is_copied, is_mistake)


def reconcile_prices(
    reading: PriceReading, extracted: tuple[Decimal, ...], age: int | None
) -> tuple[Fact[tuple[int, ...]], Fact[int]]:
    """age: as the text states it; a model that put it among the prices has mistaken the field."""
    is_price_too = any(line.pence == (age or 0) * 100 for line in reading.lines)
    amounts = _in_pence(tuple(each for each in extracted if is_price_too or not each.is_finite() or each != age))
    if amounts is None:
        refused: Fact[Any] = Fact(None, FactStatus.IMPOSSIBLE, reading.components.evidence, _IMPOSSIBLE)
        return refused, refused
    proposed = _with_misreadings_mended(reading.lines, Counter(amount for amount in amounts if amount))
    doubt = _compare(reading, proposed)
    named = bool(proposed) or (bool(amounts) and _is_free(reading))
    components = _reconcile(
        reading.components, amounts if named else None, named and doubt is None, False, doubt=doubt, may_complete=False
    )
    if components.status is not FactStatus.VERIFIED:
        return components, Fact(None, components.status, components.evidence, components.note, components.agreement)
    total = reading.total
    return components, Fact(total.value, total.status, total.evidence, total.note, components.agreement)


def _is_free(reading: PriceReading) -> bool:
    return bool(reading.components.value) and not any(reading.components.value or ())


def _reconcile(
    reading: Reading[V],
    extracted: Any,
    agrees: bool,
    is_mistake: bool,
    doubt: Doubt | None = None,
    may_complete: bool = True,
) -> Fact[V]:
    evidence = reading.evidence
    if not reading.is_settled:
        is_invented = reading.status is FactStatus.MISSING and extracted is not None
        if is_invented:
            return Fact(None, FactStatus.UNSUPPORTED, evidence, _UNSUPPORTED, Agreement.DISAGREED)
        return Fact(None, reading.status, evidence, reading.note)
    if agrees:
        return Fact(reading.value, FactStatus.VERIFIED, evidence, AGREES, Agreement.AGREED)
    if extracted is None and reading.is_plain and may_complete:
        return Fact(reading.value, FactStatus.VERIFIED, evidence, COMPLETED, Agreement.COMPLETED)
    if extracted is None:
        return Fact(None, FactStatus.CONFLICTING, evidence, _NOT_EXTRACTED, Agreement.DISAGREED)
    if is_mistake and reading.is_plain:
        return Fact(reading.value, FactStatus.VERIFIED, evidence, OVERRULED, Agreement.OVERRULED)
    doubt = doubt or Doubt(FactStatus.CONFLICTING, _DIFFERENT)
    return Fact(None, doubt.status, evidence, doubt.note, Agreement.DISAGREED)


def _in_pence(components: tuple[Decimal, ...]) -> tuple[int, ...] | None:
    if len(components) > MOST_COMPONENTS:
        return None
    amounts = []
    for component in components:
        if not component.is_finite() or not 0 <= component <= _LARGEST_POUNDS:
            return None
        hundredfold = component * 100
        if hundredfold != hundredfold.to_integral_value():
            return None
        amounts.append(int(hundredfold))
    return tuple(amounts)


def _compare(reading: PriceReading, proposed: "Counter[int]") -> Doubt | None:
    """Why the model's components and the text's differ; None where each side accounts for the other."""
    lines = reading.lines
    units = Counter[int]()
    for line in lines:
        units[line.pence] += line.quantity
    totals = {line.total for line in lines} | reading.sums
    whole = sum(line.total for line in lines)
    for amount, count in proposed.items():
        fits_units = amount in units and count <= max(units[amount], 1) + reading.others.count(amount)
        is_other = amount not in units and (
            amount in totals or amount == whole or amount in reading.components.explained
        )
        is_known = fits_units or is_other
        if not is_known:
            return Doubt(FactStatus.UNSUPPORTED, _DIFFERENT)
    if not proposed.keys().isdisjoint(reading.sums | {whole}):
        return None
    if all(_is_covered(line, proposed) for line in lines if line.pence):
        same = Counter(line.pence for line in lines if line.pence)
        short = any(proposed[pence] < count for pence, count in same.items() if count > 1 and proposed[pence] > 0)
        return Doubt(FactStatus.CONFLICTING, _LEFT_OUT) if short else None
    return Doubt(FactStatus.CONFLICTING, _LEFT_OUT)


def _with_misreadings_mended(lines: Sequence[Line], proposed: "Counter[int]") -> "Counter[int]":
    """ "£24,50" read as 2450, "ten grand" as 10: the model meant this amount and mistook how it is written."""
    mended = Counter[int]()
    known = {line.pence for line in lines} | {line.total for line in lines}
    for amount, count in proposed.items():
        meant = [line.pence for line in lines if amount not in known and amount in _misreadings(line)]
        mended[meant[0] if len(set(meant)) == 1 else amount] += count
    return mended


def _misreadings(line: Line) -> set[int]:
    """Pence that come out when the separators, or the word after the digits, are overlooked."""
    digits = "".join(character for character in line.evidence.text if character.isdecimal())
    found = {int(digits) * 100} if digits and len(digits) <= 9 else set()
    return found | {line.pence // 1000, line.pence * 1000} if line.pence % 1000 == 0 else found


def _is_covered(line: Line, proposed: "Counter[int]") -> bool:
    return proposed[line.pence] > 0 or proposed[line.total] > 0


def _is_part_of(extracted: str, evidence: Sequence[Evidence]) -> bool:
    """Whether the words were copied out of the evidence: "Thursday" of "the Thursday"."""
    words = [word for word in _words(extracted) if word not in _ARTICLES]
    for each in evidence:
        whole = [word for word in _words(each.text) if word not in _ARTICLES]
        if words and any(whole[at : at + len(words)] == words for at in range(len(whole))):
            return True
    return False


def _words(text: str) -> list[str]:
    return [token.text for token in tokenise(normalise(text).text)]


def _is_in_text(extracted: str, scans: Sequence[Scan]) -> bool:
    words = _words(extracted)
    return bool(words) and any(
        scan.passage.words[at : at + len(words)] == words
        for scan in scans
        for at in scan.passage.places.get(words[0], ())
    )
