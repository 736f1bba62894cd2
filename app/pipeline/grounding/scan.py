"""Everything one message mentions. Each number is explained once: the surest recogniser takes it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any, TypeVar

from app.pipeline.grounding.age.ages import find_ages, find_bare_ages
from app.pipeline.grounding.age.birth_dates import find_birth_dates, find_birthdays
from app.pipeline.grounding.discourse.corrections import SecondThought, find_second_thoughts
from app.pipeline.grounding.discourse.instructions import instruction_positions
from app.pipeline.grounding.mentions import (
    AgeKind,
    AgeMention,
    DateKind,
    DateMention,
    Mention,
    MoneyKind,
    MoneyMention,
    TimeKind,
    TimeMention,
)
from app.pipeline.grounding.money.amounts import as_bare_money, find_bare_money, find_money
from app.pipeline.grounding.money.words import SUM_AFTER
from app.pipeline.grounding.text.lookalikes import find_lookalikes
from app.pipeline.grounding.text.numerals import Numeral, find_numerals
from app.pipeline.grounding.text.passage import Passage
from app.pipeline.grounding.when.context import WhenContext
from app.pipeline.grounding.when.dates import find_dates
from app.pipeline.grounding.when.times import find_lone_hours, find_parts_of_day, find_times

Found = TypeVar("Found", bound=Mention[Any])

_CORRECTING = frozenset({"not", "meant", "sorry", "mean", "make", "it", "rather", "be", "said", "actually", "no"})
_SMALLEST_GROUPED = 1000


@dataclass(frozen=True)
class Scan:
    """The mentions of one message, each list in reading order."""

    passage: Passage
    money: tuple[MoneyMention, ...]
    ages: tuple[AgeMention, ...]
    dates: tuple[DateMention, ...]
    times: tuple[TimeMention, ...]
    bare_ages: tuple[AgeMention, ...]
    """Numbers in a clause of their own that could be an age; they count where nothing else does."""
    strays: tuple[Numeral, ...]
    """Numbers that no recogniser explained."""
    taken: frozenset[int]
    """Positions that some recogniser explained."""
    numerals: tuple[Numeral, ...]
    second_thoughts: tuple[SecondThought, ...]
    orders: frozenset[int]
    """Positions of text that gives orders to the assistant."""
    dictated: frozenset[Decimal]
    """Numbers that instructions to the assistant would have it adopt."""

    @property
    def message(self) -> int:
        return self.passage.message


def scan(
    message: int, content: str, now: datetime, *, asks_birth_date: bool = False, follows_prices: bool = False
) -> Scan:
    """now: when the conversation was received, local to the clinic.

    asks_birth_date: the message before it did. follows_prices: prices were named before, so that a number may be one.
    """
    passage = Passage(message, content)
    numerals = find_numerals(passage)
    today = now.date()
    taken = find_lookalikes(passage, numerals)
    births = _take(find_birth_dates(passage, today, taken, asks_birth_date), taken)
    birthdays = find_birthdays(passage, taken)
    for span in birthdays:
        taken.update(span)
    money = _take(find_money(passage, numerals, taken), taken)
    times = _take(find_times(passage, taken, now), taken)
    dates = _take(find_dates(passage, taken, today), taken)
    dates += [DateMention(span.start, span.stop - 1, None, DateKind.OTHER, "a birthday") for span in birthdays]
    ages = _take(find_ages(passage, numerals, taken), taken)
    ages += _take(_denied_ages(passage, numerals, ages, taken), taken)
    bare_ages = find_bare_ages(passage, numerals, taken)
    money += _take(_bare_money(passage, numerals, taken, follows_prices or bool(money)), taken)
    times += _take(find_lone_hours(passage, taken), taken)
    times += find_parts_of_day(passage, {at for mention in times for at in mention.positions})
    dates.sort(key=lambda mention: mention.first)
    times.sort(key=lambda mention: mention.first)

    context = WhenContext(passage, taken)
    dates = [_of_an_age(passage, mention, ages) for mention in context.weigh_dates(dates)]
    times = context.weigh_times(times, dates)
    orders = instruction_positions(passage)
    return Scan(
        passage=passage,
        money=_sorted(_heard(mention, orders, MoneyKind.INSTRUCTION) for mention in money),
        ages=_sorted(_heard(mention, orders, AgeKind.INSTRUCTION) for mention in [*births, *ages]),
        dates=_sorted(_heard(mention, orders, DateKind.INSTRUCTION) for mention in dates),
        times=_sorted(_heard(mention, orders, TimeKind.INSTRUCTION) for mention in times),
        bare_ages=tuple(mention for mention in bare_ages if orders.isdisjoint(mention.positions)),
        strays=tuple(
            numeral
            for numeral in numerals
            if numeral.first not in taken and numeral.first not in orders and not _is_inside_a_word(passage, numeral)
        ),
        taken=frozenset(taken | orders),
        numerals=tuple(numerals),
        second_thoughts=tuple(find_second_thoughts(passage)),
        orders=orders,
        dictated=frozenset(n.value for n in numerals if n.first in orders and n.value is not None),
    )


def _take(mentions: Iterable[Found], taken: set[int]) -> list[Found]:
    """The mentions, their tokens now taken."""
    found = list(mentions)
    for mention in found:
        taken.update(mention.positions)
    return found


def _sorted(mentions: Iterable[Found]) -> tuple[Found, ...]:
    return tuple(sorted(mentions, key=lambda mention: mention.first))


def _heard(mention: Found, orders: frozenset[int], instruction: Any) -> Found:
    is_order = not orders.isdisjoint(mention.positions)
    return replace(mention, kind=instruction, note="inside an instruction to the assistant") if is_order else mention


def _denied_ages(
    passage: Passage, numerals: list[Numeral], ages: list[AgeMention], taken: set[int]
) -> list[AgeMention]:
    """ "I'm 37 not 17"."""
    after = {age.last + 2: age for age in ages if passage.word(age.last + 1) == "not"}
    return [
        AgeMention(n.first, n.last, n.whole, AgeKind.CORRECTED, "denied", owner=after[n.first].owner)
        for n in numerals
        if n.first in after and n.first not in taken
    ]


def _of_an_age(passage: Passage, mention: DateMention, ages: list[AgeMention]) -> DateMention:
    """ "18 in a fortnight", "18 today": the day belongs to the age."""
    is_part = any(
        mention.first in age.positions
        or (mention.first == age.last + 1 and passage.word(mention.first) == "today")
        or (age.kind is AgeKind.FUTURE and mention.first == age.last + 2 and passage.word(age.last + 1) == "on")
        for age in ages
    )
    return mention.of_kind(DateKind.OTHER, "the day an age is reached") if is_part else mention


def _bare_money(passage: Passage, numerals: list[Numeral], taken: set[int], has_money: bool) -> list[MoneyMention]:
    found = find_bare_money(passage, numerals, taken)
    if not has_money and not any(numeral.is_scaled for numeral in numerals):
        return found
    explained = {position for mention in found for position in mention.positions}
    for numeral in numerals:
        if numeral.first in taken or numeral.first in explained or numeral.value is None:
            continue
        is_grouped = "," in passage.word(numeral.first) and numeral.value >= _SMALLEST_GROUPED
        is_corrected = (
            passage.word(numeral.first - 1) in _CORRECTING
            and numeral.value >= 20
            and len(passage.word(numeral.first)) > 2
        )
        is_sum = numeral.value >= 20 and SUM_AFTER.begin_at(passage, numeral.last + 1) is not None
        if is_grouped or is_corrected or is_sum or numeral.is_scaled:
            found.append(as_bare_money(passage, numeral))
    return found


def _is_inside_a_word(passage: Passage, numeral: Numeral) -> bool:
    """ "3D", "2nd": a short number glued to letters."""
    is_part = passage.is_glued(numeral.last + 1) and passage.is_word(numeral.last + 1)
    return is_part and len(passage.word(numeral.first)) <= 2
