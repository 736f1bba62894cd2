"""Model facts against the customer's own text: what it bears out is verified, everything else is left to a person.

The text is scanned for every mention of money, age, day and hour, each in its sense (scan.py). What they come to is
read without the model (age/attendee.py, money/prices.py, when/appointments.py), then set against what the model
extracted (reconcile.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from zoneinfo import ZoneInfo

from app.pipeline.grounding.age.attendee import read_age
from app.pipeline.grounding.age.birth_dates import asks_birth_date
from app.pipeline.grounding.discourse.unsettled import Unsettled
from app.pipeline.grounding.facts import ExtractedFacts, GroundedFacts, Message
from app.pipeline.grounding.money.prices import PriceReading, read_prices
from app.pipeline.grounding.readings import Reading
from app.pipeline.grounding.reconcile import reconcile_age, reconcile_prices, reconcile_when
from app.pipeline.grounding.scan import Scan, scan
from app.pipeline.grounding.text.passage import Passage
from app.pipeline.grounding.when.appointments import read_date, read_time
from app.pipeline.grounding.when.dates import find_dates
from app.pipeline.grounding.when.times import find_times


@dataclass(frozen=True)
class Survey:
    """What the text alone says: a reading of every fact, each with all mentions of its kind in their sense."""

    customer: tuple[Scan, ...]
    age: Reading[int]
    prices: PriceReading
    date: Reading[date]
    time: Reading[time]
    now: datetime


def ground(
    extracted: ExtractedFacts, conversation: Sequence[Message], received_at: datetime, timezone: ZoneInfo
) -> GroundedFacts:
    """received_at is aware; days without a year and weekdays count from its date in timezone."""
    text = survey(conversation, received_at, timezone)
    day, hour = extracted.requested_date, extracted.requested_time
    components, total = reconcile_prices(text.prices, extracted.price_components, text.age.value)
    return GroundedFacts(
        customer_age=reconcile_age(text.age, extracted.customer_age, extracted.price_components),
        price_components=components,
        total_pence=total,
        requested_date=reconcile_when(text.date, day, hour, lambda words: _days(words, text), text.customer),
        requested_time=reconcile_when(text.time, hour, day, lambda words: _hours(words, text), text.customer),
    )


def survey(conversation: Sequence[Message], received_at: datetime, timezone: ZoneInfo) -> Survey:
    now = received_at.astimezone(timezone)
    scans = _scan_all(conversation, now)
    customer = tuple(each for each in scans if conversation[each.message].role == "customer")
    assistant = tuple(each for each in scans if conversation[each.message].role == "assistant")
    unsettled = Unsettled(customer)
    age = unsettled.weigh(read_age(customer, assistant))
    prices = read_prices(customer, assistant, _bare_age_positions(age, customer))
    return Survey(
        customer=customer,
        age=age,
        prices=replace(prices, components=unsettled.weigh(prices.components), total=unsettled.weigh(prices.total)),
        date=unsettled.weigh(read_date(customer, assistant, now)),
        time=unsettled.weigh(read_time(customer, assistant)),
        now=now,
    )


def _scan_all(conversation: Sequence[Message], now: datetime) -> list[Scan]:
    scans: list[Scan] = []
    for index, message in enumerate(conversation):
        is_answer = index > 0 and message.role == "customer" and conversation[index - 1].role == "assistant"
        scans.append(
            scan(
                index,
                message.content,
                now,
                asks_birth_date=is_answer and asks_birth_date(scans[-1].passage),
                follows_prices=any(earlier.money for earlier in scans),
            )
        )
    return scans


def _bare_age_positions(age: Reading[int], customer: Sequence[Scan]) -> frozenset[tuple[int, int]]:
    """Where a verified age stands once more as a bare number: it is no loose end of anything else."""
    if age.value is None:
        return frozenset()
    return frozenset(
        (scan.message, numeral.first)
        for scan in customer
        for numeral in scan.strays
        if numeral.whole == age.value and (_is_bare(scan, numeral.first) or scan.passage.word(numeral.first - 1) == "(")
    )


def _is_bare(scan: Scan, position: int) -> bool:
    return any(bare.first == position for bare in scan.bare_ages)


def _days(words: str, text: Survey) -> list[date | None]:
    return [mention.value for mention in find_dates(_copied(words, text), set(), text.now.date())]


def _hours(words: str, text: Survey) -> list[time | None]:
    return [mention.value for mention in find_times(_copied(words, text), set(), text.now)]


def _copied(words: str, text: Survey) -> Passage:
    """Words copied by the model, read in the language they were copied from."""
    foreign = next((scan.passage for scan in text.customer if scan.passage.glossary), None)
    return Passage(0, words, like=foreign)
