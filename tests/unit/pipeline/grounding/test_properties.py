"""What holds for any text whatever."""

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.pipeline.grounding import Evidence, ExtractedFacts, FactStatus, GroundedFacts, Message, ground
from app.pipeline.grounding.text.normalise import normalise
from app.policy import POLICY, Action, decide
from tests.unit.pipeline.grounding.check import LONDON, RECEIVED_AT, extracted, ground_text

FRAGMENT_TEXT = (
    "£ £400 £1,600.00 6.5k 300 pounds 50 pence $ € % - – . , ; : ! ? \n ( ) [3] I'm 34 aged 17 years old my son is 12 "
    "8 December 2026 31 November 3/12 2026-12-08 tomorrow Tuesday the 8th at 10am 14:30 half past two noon to or and "
    "total altogether each plus VAT sorry instead 2️⃣ ﬁ ½ ² \u200b \u202e \u0336 ٣ 💷 x 3"
)
FRAGMENTS = st.sampled_from(FRAGMENT_TEXT.split(" "))
TEXTS = st.text() | st.lists(FRAGMENTS, max_size=40).map(" ".join) | st.lists(FRAGMENTS, max_size=40).map("".join)
AMOUNTS = st.decimals(allow_nan=True, allow_infinity=True) | st.sampled_from(
    [Decimal(text) for text in ("0", "3", "34", "400", "1600", "6500", "300.5")]
)
EXTRACTED = st.builds(
    ExtractedFacts,
    st.none() | st.integers() | st.sampled_from([12, 17, 34]),
    st.lists(AMOUNTS, max_size=12).map(tuple),
    st.none() | TEXTS,
    st.none() | TEXTS,
)
CONVERSATIONS = st.lists(st.builds(Message, st.sampled_from(["customer", "assistant"]), TEXTS), max_size=4)


def evidence_of(grounded: GroundedFacts) -> Iterator[Evidence]:
    yield from grounded.customer_age.evidence
    yield from grounded.price_components.evidence
    yield from grounded.total_pence.evidence
    yield from grounded.requested_date.evidence
    yield from grounded.requested_time.evidence


@settings(max_examples=300, deadline=None)
@given(EXTRACTED, CONVERSATIONS)
def test_any_text_is_grounded_with_evidence_from_the_customers_words(
    facts: ExtractedFacts, conversation: list[Message]
) -> None:
    grounded = ground(facts, conversation, RECEIVED_AT, LONDON)

    for evidence in evidence_of(grounded):
        message = conversation[evidence.turn]
        assert message.role == "customer"
        assert evidence.text == message.content[evidence.start : evidence.end] != ""


@pytest.mark.parametrize("digit", ["\u1369", "\u2460", "\u00b2", "\u0663", "\U0001d7d9", "\u4e09"])
@pytest.mark.parametrize("text", ["£4 x{}", "born 1 may {}", "10h{} bonjour merci", "in {} days", "half {}", "I'm {}"])
def test_a_digit_of_any_script_is_read_or_left_alone(text: str, digit: str) -> None:
    written = text.format(digit)

    ground_text(written, extracted(3, ("4",), written, written))


@settings(max_examples=300, deadline=None)
@given(EXTRACTED, CONVERSATIONS)
def test_a_verified_fact_has_evidence_and_a_total_is_the_sum(
    facts: ExtractedFacts, conversation: list[Message]
) -> None:
    grounded = ground(facts, conversation, RECEIVED_AT, LONDON)

    for fact in (grounded.customer_age, grounded.requested_date, grounded.requested_time, grounded.total_pence):
        assert (fact.status is FactStatus.VERIFIED) == (fact.value is not None) == bool(fact.verified_value is not None)
        assert fact.evidence or fact.status is not FactStatus.VERIFIED
    if grounded.total_pence.status is FactStatus.VERIFIED:
        assert grounded.price_components.verified_value is not None
        assert grounded.total_pence.value == sum(grounded.price_components.verified_value)


@settings(max_examples=300, deadline=None)
@given(EXTRACTED, st.text(st.characters(exclude_categories=("N",), exclude_characters="0123456789")))
def test_a_text_without_numbers_gives_neither_an_age_nor_a_price(facts: ExtractedFacts, text: str) -> None:
    grounded = ground_text(text, facts)

    assert grounded.customer_age.verified_value is None
    assert not grounded.total_pence.verified_value


NOT_BOOKED = [
    ("I'm 37. £640, Tuesday 8 December", extracted(37, ("640",), "Tuesday 8 December")),
    ("£640, Tuesday 8 December at 10am", extracted(None, ("640",), "Tuesday 8 December", "10am")),
    ("I'm 37, Tuesday 8 December at 10am", extracted(37, (), "Tuesday 8 December", "10am")),
    ("I'm 37. £640 at 10am please", extracted(37, ("640",), None, "10am")),
    ("I'm 17. £640, Tuesday 8 December at 10am", extracted(17, ("640",), "Tuesday 8 December", "10am")),
    ("I'm 37. £12,640, Tuesday 8 December at 10am", extracted(37, ("12640",), "Tuesday 8 December", "10am")),
    ("I'm 37. £640-£700, Tuesday 8 December at 10am", extracted(37, ("640",), "Tuesday 8 December", "10am")),
    ("I'm 37. £640, Monday 8 December at 10am", extracted(37, ("640",), "Monday 8 December", "10am")),
]
UNRELATED = st.sampled_from(
    [
        "My reference is {}.",
        "Flat {} is the blue door.",
        "The car park has {} spaces.",
        "I have {} cats.",
        "It took me {} minutes to find your page.",
        "My postcode is M{} 4AB.",
        "Bus {} stops outside.",
        "Room {} last time, I think.",
        "I weigh {} kg.",
        "Call 07700 9001{}.",
        "I read {} reviews.",
        "My blood pressure was {}.",
        "You were rated {} out of 100.",
        "I was number {} in the queue.",
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(NOT_BOOKED), UNRELATED, st.integers(1, 99), st.booleans())
def test_an_unrelated_sentence_with_a_number_never_makes_a_booking(
    case: tuple[str, ExtractedFacts], sentence: str, number: int, goes_first: bool
) -> None:
    text, facts = case
    added = sentence.format(number)
    whole = f"{added} {text}" if goes_first else f"{text}. {added}"

    for age, prices in ((facts.customer_age, facts.price_components), (number, (Decimal(number),))):
        grounded = ground_text(whole, replace(facts, customer_age=age, price_components=prices))

        assert decide(grounded.to_policy_facts(RECEIVED_AT, LONDON), POLICY).action is not Action.BOOK_APPOINTMENT


def _styles(pence: int) -> list[str]:
    pounds, rest = divmod(pence, 100)
    grouped, plain = f"{pounds:,}.{rest:02}", f"{pounds}.{rest:02}"
    styles = [
        f"£{grouped}",
        f"£{plain}",
        f"GBP {grouped}",
        f"{grouped} pounds",
        f"{plain} quid",
        f"{pounds} pounds {rest} pence",
    ]
    styles += [f"£{pounds:,}.{rest:02}".replace(",", " "), f"💷 {plain}", f"{grouped} GBP"]
    if rest == 0:
        styles += [
            f"£{pounds}",
            f"£{pounds:,}",
            f"{pounds} quid",
            f"{pounds:,} pounds",
            f"£{pounds:,}".replace(",", "'"),
        ]
        styles += [f"{pounds // 1000}k"] if pounds % 1000 == 0 and pounds else []
        styles += [f"{pounds / 1000:g}k"] if pounds % 100 == 0 and pounds >= 1000 else []
    return styles


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.integers(1, 12_000_00), st.integers(1, 120).map(lambda hundreds: hundreds * 100_00)))
def test_a_price_is_worth_the_same_in_every_style(pence: int) -> None:
    for written in _styles(pence):
        facts = extracted(prices=(str(Decimal(pence) / 100),))

        assert ground_text(f"The visit is {written} and that is all.", facts).total_pence.value == pence, written


@settings(max_examples=100, deadline=None)
@given(st.permutations([6_400, 1_250, 90, 3_105]), st.booleans())
def test_the_order_of_the_components_does_not_matter(pounds: list[int], with_total: bool) -> None:
    items = ", ".join(f"£{amount:,} for item {'abcd'[place]}" for place, amount in enumerate(pounds))
    total = f". £{sum(pounds):,} in total" if with_total else ""
    facts = extracted(prices=tuple(str(amount) for amount in pounds))

    assert ground_text(f"{items}{total}.", facts).total_pence.verified_value == sum(pounds) * 100


@given(st.lists(st.integers(1, 9_999), min_size=1, max_size=4, unique=True))
def test_a_plain_list_of_prices_is_never_verified_with_one_left_out(pounds: list[int]) -> None:
    text = ", ".join(f"£{amount} for item {'abcd'[place]}" for place, amount in enumerate(pounds))

    total = ground_text(text, extracted(prices=tuple(str(amount) for amount in pounds[1:]))).total_pence

    assert total.verified_value is None


@given(TEXTS)
def test_every_normalised_character_maps_into_the_original(text: str) -> None:
    normalised = normalise(text)

    assert len(normalised.text) == len(normalised.starts) == len(normalised.ends)
    assert all(0 <= start < end <= len(text) for start, end in zip(normalised.starts, normalised.ends, strict=True))


@pytest.mark.parametrize(
    "piece",
    [
        *("1", "1,", "1 ", "1.", "1/", "1:", "1-", "£", "£1 ", "£1-", "1pm ", "good 1pm ", "8 or ", "8 December "),
        *("I'm 3 ", "no wait ", "two ", "(", "#", "'", "a'", "\u0301", "\u200d", "１", "１\u0336", "sorry "),
        *(
            "Monday ",
            "mum ",
            "ref: ",
            "plus ",
            "£1, ",
            "2pm-",
            "8-9 ",
            "no wait I'm 3. ",
            "no wait £1. ",
            "sorry 1pm ",
            "two £1 each ",
            "Monday,",
            ". ",
        ),
    ],
)
def test_eight_thousand_characters_of_one_piece_are_grounded(piece: str) -> None:
    text = (piece * 8_000)[:8_000]

    grounded = ground_text(text, extracted(34, ("1",), text[:60], text[:40]))

    assert grounded.total_pence.verified_value is None
