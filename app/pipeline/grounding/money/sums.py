"""Totals that customers state beside the prices: recognised, checked, and never counted as one more item."""

from collections.abc import Sequence
from dataclasses import replace

from app.pipeline.grounding.facts import FactStatus
from app.pipeline.grounding.mentions import MoneyMention
from app.pipeline.grounding.money import words
from app.pipeline.grounding.money.lines import Doubt, Line
from app.pipeline.grounding.text.passage import Passage, word_set

_WRONG_SUM = Doubt(FactStatus.CONFLICTING, "the stated total is not the sum of the prices")
_MAYBE_SUM = Doubt(FactStatus.AMBIGUOUS, "an amount equals the sum of the others without being called their total")
_NO_ITEM = word_set("and please so i i'm is was sounds then it that's thanks ok okay yes fine")


def announces_sum(passage: Passage, mention: MoneyMention) -> bool:
    """Whether the words say that this amount sums up others."""
    at = mention.first
    if passage.word(at - 1) == "(" and words.SUM_AFTER.end_before(passage, at - 1) and _follows_amount(passage, at - 1):
        return False  # "£12,400 all in (£9,900 for ..."
    while passage.word(at - 1) in ("(", ":", "a", "of", "just", "only", "is") and passage.word(at - 1):
        at -= 1
    is_led = words.SUM_BEFORE.end_before(passage, mention.first) or words.SUM_BEFORE.end_before(passage, at)
    if (
        is_led
        and passage.word(mention.last + 1) == "for"
        and passage.word(mention.last + 2) not in ("everything", "both", "all", "the")
    ):
        return False
    if is_led or words.SUM_AFTER.begin_at(passage, mention.last + 1 + (passage.word(mention.last + 1) == ")")):
        return True
    for at in range(mention.first - 1, max(-1, mention.first - 9), -1):
        if not passage.same_clause(at, mention.first) or passage.is_number(at):
            return False
        if passage.word(at) in words.STRONG_SUM:
            return True
    return False


def _follows_amount(passage: Passage, position: int) -> bool:
    return any(passage.is_number(position - step) for step in range(1, 5))


def once(lines: list[Line]) -> list[Line]:
    """An amount of an earlier turn that is only named again ("the £430 one") is not one more item."""
    kept: list[Line] = []
    sums = {line.pence for line in lines if line.mention.announces_sum}
    for line in lines:
        repeats = any(other.pence == line.pence and other.scan.message < line.scan.message for other in kept)
        led = line.scan.passage.before(line.mention.first, 2)
        is_another = bool({"another", "also", "plus", "second", "extra", "and", "other"} & set(led))
        if not repeats or is_another:
            is_sum = line.pence in sums
            kept.append(Line(line.scan, replace(line.mention, announces_sum=True)) if is_sum else line)
    return kept


def without_sums(lines: list[Line]) -> tuple[list[Line], list[int], Doubt | None]:
    """The lines without restated totals, those totals, and what is wrong with them."""
    lines = _quantity_from_sum(lines)
    sums: list[int] = []
    for line in list(lines):
        others = [other for other in lines if other is not line]
        if not line.mention.announces_sum or not others or line.quantity != 1:
            continue
        same_sentence = [o for o in others if _is_before_in_sentence(o, line)]
        if line.pence in {sum_of(others), sum_of(same_sentence)} and (
            len(others) > 1 or others[0].quantity > 1 or line.pence == sum_of(others)
        ):
            lines = others
            sums.append(line.pence)
        elif _is_strong_sum(line):
            return lines, sums, _WRONG_SUM
    for line in lines:
        others = [other for other in lines if other is not line]
        has_many = len(others) > 1 or any(other.quantity > 1 for other in others)
        is_sum = has_many and line.pence == sum_of(others) and line.quantity == 1
        if is_sum and not line.mention.announces_sum:
            if line is lines[-1] and not _is_of_an_item(line):
                return others, [*sums, line.pence], None
            return lines, sums, _MAYBE_SUM
    return lines, sums, None


def _quantity_from_sum(lines: list[Line]) -> list[Line]:
    """ "£900 each, so £1,800 for both": the stated total tells how many."""
    open_lines = [line for line in lines if line.mention.quantity is None]
    totals = [line for line in lines if line.mention.announces_sum and line.mention.quantity == 1]
    if len(open_lines) != 1 or len(totals) != 1 or len(lines) != 2:
        return lines
    each, total = open_lines[0], totals[0]
    count, rest = divmod(total.pence, each.pence or 1)
    if rest or not 2 <= count <= 60:
        return lines
    return [Line(each.scan, replace(each.mention, quantity=count)), total]


def sum_of(lines: Sequence[Line]) -> int:
    return sum(line.total for line in lines)


def _is_before_in_sentence(other: Line, line: Line) -> bool:
    passage = line.scan.passage
    is_same = other.scan is line.scan and passage.sentence(other.mention.first) == passage.sentence(line.mention.first)
    return is_same and other.mention.first < line.mention.first


def _is_strong_sum(line: Line) -> bool:
    passage, mention = line.scan.passage, line.mention
    near = {*passage.before(mention.first, 6), *passage.after(mention.last, 2)}
    is_plain_word = near & {"so", "that's", "thats", "makes", "making"} and not near & words.STRONG_SUM
    return not is_plain_word or "makes" in near or "making" in near


def _is_of_an_item(line: Line) -> bool:
    """ "£3,400 for the laser", "the £3,400 laser": it has a thing of its own."""
    passage, mention = line.scan.passage, line.mention
    follows = passage.after(mention.last, 2)
    return bool(follows) and (follows[0] == "for" or (follows[0].isalpha() and follows[0] not in _NO_ITEM))
