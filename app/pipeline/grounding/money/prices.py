"""What the prices of a conversation come to: which amounts are asked for, how many of each, and what they add up to."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from app.pipeline.grounding.facts import FactStatus
from app.pipeline.grounding.mentions import MOST_MENTIONS, MoneyKind, MoneyMention
from app.pipeline.grounding.money import doubts
from app.pipeline.grounding.money.lines import Doubt, Line
from app.pipeline.grounding.money.quantities import answered_counts, count_items
from app.pipeline.grounding.money.relations import related
from app.pipeline.grounding.money.sums import once, without_sums
from app.pipeline.grounding.readings import Reading, SensedMention, evidence_of, missing, too_many
from app.pipeline.grounding.scan import Scan

_PART_PAID = Doubt(FactStatus.AMBIGUOUS, "only a deposit or another part of the price is stated")
_OF_THE_PRICES = (doubts.RANGE, doubts.FOREIGN, doubts.UNREADABLE)
"""Doubts that leave open the prices themselves, and not only their total."""

Located = tuple[Scan, MoneyMention]


@dataclass(frozen=True)
class PriceReading:
    components: Reading[tuple[int, ...]]
    """Pence, one per item."""
    total: Reading[int]
    """Pence. Less settled than the components where a discount or an open number hangs over them."""
    lines: tuple[Line, ...]
    sums: frozenset[int]
    """Restated totals."""
    others: tuple[int, ...] = ()
    """Pence of the amounts that are no component."""
    mentions: tuple[SensedMention, ...] = ()


def read_prices(
    scans: Sequence[Scan], assistant: Sequence[Scan], age_positions: frozenset[tuple[int, int]]
) -> PriceReading:
    """age_positions: (message, position) of bare numbers that are the age."""
    every = [SensedMention(scan, mention) for scan in scans for mention in scan.money]
    if len(every) > MOST_MENTIONS:
        reading = too_many(every)
        return PriceReading(reading, reading, (), frozenset(), mentions=reading.mentions)
    counted = answered_counts(scans, [count_items(scan) for scan in scans])
    money = related(scans, [list(each.money) for each in counted])
    mentions = [(scan, mention) for scan, own in zip(scans, money, strict=True) for mention in own]
    asked = [Line(scan, m) for scan, m in mentions if m.kind is MoneyKind.COMPONENT and m.value is not None]
    lines, sums, wrong_sum = without_sums(once(asked))
    doubt = (
        doubts.first_doubt(mentions)
        or doubts.doubt_of_corrections(scans, money)
        or wrong_sum
        or doubts.open_total(scans, counted, lines, mentions, age_positions)
        or doubts.suggested(scans, assistant, lines)
    )
    others = [m.value for _, m in mentions if m.value is not None and m.kind is not MoneyKind.COMPONENT]
    dictated = {int(number * 100) for scan in scans for number in scan.dictated}
    explained = frozenset({*others, *sums, *dictated})
    return PriceReading(
        components=_components(mentions, lines, doubt, explained),
        total=_total(mentions, lines, doubt, explained),
        lines=tuple(lines),
        sums=frozenset(sums),
        others=tuple(others),
        mentions=tuple(SensedMention(scan, _sensed(m, lines, sums)) for scan, m in mentions),
    )


def _components(
    mentions: Sequence[Located], lines: Sequence[Line], doubt: Doubt | None, explained: frozenset[int]
) -> Reading[tuple[int, ...]]:
    if not lines:
        return _nothing(mentions, doubt, explained)
    if doubt in _OF_THE_PRICES:
        return _doubted(mentions, doubt, explained)
    return Reading(
        tuple(line.pence for line in lines for _ in range(line.quantity)),
        FactStatus.VERIFIED,
        tuple(line.evidence for line in lines),
        "every price stands in the text",
        is_plain=_is_plain(lines),
        explained=explained,
    )


def _total(
    mentions: Sequence[Located], lines: Sequence[Line], doubt: Doubt | None, explained: frozenset[int]
) -> Reading[int]:
    if not lines:
        return _nothing(mentions, doubt, explained)
    if doubt is not None:
        return _doubted(mentions, doubt, explained)
    return Reading(
        sum(line.total for line in lines),
        FactStatus.VERIFIED,
        tuple(line.evidence for line in lines),
        "the sum of the prices",
        is_plain=_is_plain(lines),
        explained=explained,
    )


def _nothing(mentions: Sequence[Located], doubt: Doubt | None, explained: frozenset[int]) -> Reading[Any]:
    """No amount is asked for: none is mentioned, or only others."""
    if mentions and doubt is not None:
        return _doubted(mentions, doubt, explained)
    if mentions and all(mention.kind is MoneyKind.DEPOSIT for _, mention in mentions):
        return _doubted(mentions, _PART_PAID, explained)
    return missing(explained)


def _doubted(mentions: Sequence[Located], doubt: Doubt | None, explained: frozenset[int]) -> Reading[Any]:
    assert doubt is not None
    evidence = tuple(evidence_of(scan, mention) for scan, mention in mentions)
    return Reading(None, doubt.status, evidence, doubt.note, explained=explained)


def _is_plain(lines: Sequence[Line]) -> bool:
    return all(line.mention.has_currency for line in lines)


def _sensed(mention: MoneyMention, lines: Sequence[Line], sums: Sequence[int]) -> MoneyMention:
    is_line = any(line.mention.first == mention.first and line.pence == mention.value for line in lines)
    is_sum = mention.kind is MoneyKind.COMPONENT and not is_line and mention.value in sums
    return mention.of_kind(MoneyKind.RESTATED_TOTAL) if is_sum else mention
