"""Amounts beside one another: corrected, former and final, net and gross, what is left to pay, items dropped."""

from collections.abc import Sequence
from dataclasses import replace

from app.pipeline.grounding.discourse.corrections import Strength, replaced_by
from app.pipeline.grounding.mentions import MoneyKind, MoneyMention
from app.pipeline.grounding.money import words
from app.pipeline.grounding.money.sums import announces_sum
from app.pipeline.grounding.scan import Scan
from app.pipeline.grounding.text.numerals import read_ordinal
from app.pipeline.grounding.text.passage import Passage, Phrases

DROPPED = "no longer asked for"


def related(scans: Sequence[Scan], money: list[list[MoneyMention]]) -> list[list[MoneyMention]]:
    """The mentions as what they are beside one another: corrected, former and final, net and gross, parts, dropped."""
    for index, scan in enumerate(scans):
        money[index] = [replace(m, announces_sum=announces_sum(scan.passage, m)) for m in money[index]]
        money[index] = _corrected(scan, money[index])
        money[index] = _final_prices(scan.passage, money[index])
        money[index] = _gross_prices(scan.passage, money[index])
        money[index] = _without_rest(scan.passage, money[index])
        money[index] = _without_estimates(scan.passage, money[index])
    _correct_earlier_turns(scans, money)
    _drop_items(scans, money)
    return money


def _corrected(scan: Scan, mentions: list[MoneyMention]) -> list[MoneyMention]:
    for thought in scan.second_thoughts:
        live = [mention for mention in mentions if mention.kind is MoneyKind.COMPONENT]
        replaced = replaced_by(scan.passage, thought, live)
        if replaced is None:
            continue
        old, new = replaced
        if thought.strength is not Strength.STRONG and new.announces_sum:
            continue
        nearest = old[-1]
        mentions = [
            mention.of_kind(MoneyKind.CORRECTED, "taken back") if mention is nearest else mention
            for mention in mentions
        ]
    return mentions


def _correct_earlier_turns(scans: Sequence[Scan], money: list[list[MoneyMention]]) -> None:
    """A second thought with a price, in a turn that has none to replace, replaces the only one before."""
    for index in range(1, len(scans)):
        scan = scans[index]
        fresh = [m for m in money[index] if m.kind is MoneyKind.COMPONENT]
        if not scan.second_thoughts or len(fresh) != 1:
            continue
        if any(m.kind is MoneyKind.CORRECTED for m in money[index]):
            continue
        earlier = [
            (turn, at)
            for turn in range(index)
            for at, mention in enumerate(money[turn])
            if mention.kind is MoneyKind.COMPONENT
        ]
        leads = any(
            0 <= fresh[0].first - thought.stop <= 6 or thought.strength is Strength.AFTER
            for thought in scan.second_thoughts
        )
        if leads and len(earlier) == 1:
            turn, at = earlier[0]
            money[turn][at] = money[turn][at].of_kind(MoneyKind.CORRECTED, "taken back")


def _final_prices(passage: Passage, mentions: list[MoneyMention]) -> list[MoneyMention]:
    """ "Was £999 (-10 %), now £899": once the final price is stated, the rest is accounted for."""
    cut = [m for m in mentions if m.kind in (MoneyKind.DISCOUNT, MoneyKind.PAST)]
    if not cut:
        return mentions
    finals = [
        m
        for m in mentions
        if m.kind is MoneyKind.COMPONENT
        and m.first > min(c.first for c in cut)
        and (words.FINAL_BEFORE.end_before(passage, m.first) or _is_left_over(passage, m))
    ]
    if len(finals) != 1:
        return mentions
    final = finals[0]
    sentence = passage.sentence(final.first)
    return [
        replace(mention, note="final")
        if mention is final
        else mention.of_kind(MoneyKind.PAST, "the price before the reduction")
        if mention.kind is MoneyKind.COMPONENT
        and mention.first < final.first
        and _is_reduced(passage, mention, cut, sentence)
        else mention.of_kind(MoneyKind.PAST, "settled by the final price")
        if mention.kind is MoneyKind.DISCOUNT
        else mention
        for mention in mentions
    ]


def _is_left_over(passage: Passage, mention: MoneyMention) -> bool:
    after = passage.after(mention.last, 4)
    return after[:2] == ["to", "pay"] or after[:3] == ["after", "the", "discount"] or after[:2] == ["after", "discount"]


def _is_reduced(passage: Passage, mention: MoneyMention, cut: Sequence[MoneyMention], sentence: int) -> bool:
    """The amount that a discount beside it, in the sentence of the final price or the one before, is taken off."""
    is_near = passage.sentence(mention.first) >= sentence - 1
    return is_near and any(c.kind is MoneyKind.DISCOUNT and abs(c.first - mention.last) <= 10 for c in cut)


def _gross_prices(passage: Passage, mentions: list[MoneyMention]) -> list[MoneyMention]:
    """ "£500 plus VAT, so £600": the net amount is accounted for by the gross one."""
    if not any(m.kind is MoneyKind.NET for m in mentions):
        return mentions
    gross = [
        m
        for m in mentions
        if m.kind is MoneyKind.COMPONENT
        and (
            words.GROSS_AFTER.begin_at(passage, m.last + 1) is not None
            or words.GROSS_BEFORE.end_before(passage, m.first)
            or passage.word(m.first - 1) == "("
        )
    ]
    if len(gross) != 1:
        return mentions
    return [
        replace(m, note="gross", announces_sum=False)
        if m is gross[0]
        else m.of_kind(MoneyKind.NET, "settled")
        if m.kind is MoneyKind.NET
        else m
        for m in mentions
    ]


def _without_rest(passage: Passage, mentions: list[MoneyMention]) -> list[MoneyMention]:
    """ "£2,200, I've paid £300, which leaves £1,900": what is left to pay is no more than a part."""
    values = {mention.value or 0 for mention in mentions if mention.kind is MoneyKind.COMPONENT}
    paid = sum(mention.value or 0 for mention in mentions if mention.kind is MoneyKind.DEPOSIT)
    return [
        mention.of_kind(MoneyKind.INCLUDED, "what is left to pay")
        if paid
        and mention.kind is MoneyKind.COMPONENT
        and (mention.value or 0) + paid in values
        and passage.word(mention.first - 1) in ("leaves", "leaving", "so", "owe", "of", "is", "remaining")
        else mention
        for mention in mentions
    ]


def _without_estimates(passage: Passage, mentions: list[MoneyMention]) -> list[MoneyMention]:
    """ "They said £9k to £13k. The final price is £10,950": an estimate before the exact price is outdated."""
    exact = [
        mention
        for mention in mentions
        if mention.kind is MoneyKind.COMPONENT
        and not words.EXACT.isdisjoint({*passage.before(mention.first, 8), *passage.after(mention.last, 2)})
    ]
    if len(exact) != 1:
        return mentions
    return [
        mention.of_kind(MoneyKind.PAST, "an earlier estimate")
        if mention.kind is MoneyKind.RANGE and mention.first < exact[0].first
        else mention
        for mention in mentions
    ]


def _drop_items(scans: Sequence[Scan], money: list[list[MoneyMention]]) -> None:
    """ "gone off the second one, just the first please": an item named by its place is no longer asked for."""
    for index, scan in enumerate(scans):
        flat = [
            (turn, at)
            for turn in range(index + 1)
            for at, mention in enumerate(money[turn])
            if mention.kind is MoneyKind.COMPONENT
        ]
        dropped = named_places(scan.passage, words.DROPS, len(flat))
        kept = named_places(scan.passage, words.KEEPS, len(flat))
        values = _named_amounts(scan.passage, money[index])
        gone = (
            dropped
            or _named_items(scan, scans, money, flat)
            or {place for place, (turn, at) in enumerate(flat) if money[turn][at].value in values}
            or ({place for place in range(len(flat)) if place not in kept} if kept else set())
        )
        for place in gone:
            turn, at = flat[place]
            money[turn][at] = money[turn][at].of_kind(MoneyKind.CORRECTED, DROPPED)


def _named_items(
    scan: Scan, scans: Sequence[Scan], money: list[list[MoneyMention]], flat: Sequence[tuple[int, int]]
) -> set[int]:
    """ "Leave out the fillings": the one earlier item that the text named so."""
    found = set()
    for phrase in words.DROPS.find(scan.passage):
        at = phrase.stop
        while scan.passage.word(at) in ("the", "my", "those", "that"):
            at += 1
        noun = scan.passage.word(at)
        places = {
            place
            for place, (turn, index) in enumerate(flat)
            if scans[turn] is not scan and noun.isalpha() and noun in _item(scans[turn].passage, money[turn][index])
        }
        if len(places) == 1:
            found |= places
    return found if len(flat) > 1 else set()


def _item(passage: Passage, mention: MoneyMention) -> list[str]:
    """The words right after an amount that say what it is for."""
    return passage.after(mention.last, 4)


def _named_amounts(passage: Passage, own: Sequence[MoneyMention]) -> set[int]:
    """ "drop the £5,700 one": the values of the amounts that are named only to drop their items."""
    named = set()
    for mention in own:
        at = mention.first
        while passage.word(at - 1) in ("the", "that", "my"):
            at -= 1
        if mention.kind is MoneyKind.COMPONENT and mention.value is not None and words.DROPS.end_before(passage, at):
            named.add(mention.value)
    return named


def named_places(passage: Passage, phrases: Phrases, count: int) -> set[int]:
    """Zero-based places of the items named right after one of the phrases."""
    places = set()
    for found in phrases.find(passage):
        at = found.stop
        while passage.word(at) in ("the", "my", "do", "want", "with"):
            at += 1
        ordinal = read_ordinal(passage, at)
        if ordinal is not None and ordinal[0] <= count and count > 1:
            places.add(ordinal[0] - 1)
        elif passage.word(at) == "last" and count > 1:
            places.add(count - 1)
    return places
