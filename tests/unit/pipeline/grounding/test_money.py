"""Prices: what is read, what reopens a total, and the two-way check."""

import pytest

from tests.unit.pipeline.grounding.check import (
    AMBIGUOUS,
    CONFLICTING,
    IMPOSSIBLE,
    MISSING,
    UNSUPPORTED,
    VERIFIED,
    extracted,
    ground_text,
    total_of,
)

WRITTEN = [
    ("It costs £1,725.00 all told.", "1725", 1_725_00),
    ("It costs £2 350 all told.", "2350", 2_350_00),
    ("The charge is £37,25.", "37.25", 37_25),
    ("They said 7.5k for it.", "7.5", 7_500_00),
    ("It's four hundred and ten pounds.", "410", 410_00),
    ("thirty-four hundred and fifty pounds", "3450", 3_450_00),
    ("twothousand pounds", "2000", 2_000_00),
    ("Ten grand for it", "10000", 10_000_00),
    ("It's £410½.", "410.5", 410_50),
    ("It's £310, sorry, £410.", "410", 410_00),
    ("not 3000, I meant 2500 pounds", "2500", 2_500_00),
    ("Was £999 (-10%), now £899.", "899", 899_00),
    ("£500 plus VAT, so £600", "600", 600_00),
    ("£600 including VAT", "600", 600_00),
    ("I hold a credit note (£50) and want the £410 visit", "410", 410_00),
    ("£410, I've already paid a £50 deposit", "410", 410_00),
    ("CHF 900 is what they charged my cousin, mine is £410", "410", None),
    ("£410 rather than the old price", "410", 410_00),
    ("They said 7.5k for it.", "7500", 7_500_00),
    ("They said 3,5k for it.", "3500", 3_500_00),
    ("They said £8.2k for it.", "8200", 8_200_00),
    ("GBP 3100 for the course", "3100", 3_100_00),
    ("GBP3,100 for the course", "3100", 3_100_00),
    ("3100 pounds for the course", "3100", 3_100_00),
    ("12 grand for the course", "12000", 12_000_00),
    ("450 pounds 20 pence", "450.20", 450_20),
    ("85p for the leaflet", "0.85", 85),
    ("💷 65 for the chat", "65", 65_00),
    ("£\u0664\u0665\u0660 for the chat", "450", 450_00),
    ("\uffe1\uff14\uff15\uff10 for the chat", "450", 450_00),
    ("£4\u200b50 for the chat", "450", 450_00),
    ("The leaflet says £1.9k[2].", "1900", 1_900_00),
    ("£0 today", "0", 0),
    ("My GP sent me; the fee is £410.", "410", 410_00),
    ("As per the leaflet it is £410, by credit card.", "410", 410_00),
    ("Sorry to trouble you, it's £410, thank you so much.", "410", 410_00),
    ("Our house is number 31, the price is £410.", "410", 410_00),
    ("Invoice 90210 says £410.", "410", 410_00),
    ("Ring 07700 900123 please, it's £410.", "410", 410_00),
    ("the price is 410", "410", 410_00),
]


@pytest.mark.parametrize(("text", "price", "pence"), WRITTEN)
def test_one_price_is_read_however_it_is_written(text: str, price: str, pence: int | None) -> None:
    total = total_of(text, price)

    assert total.verified_value == pence


NOT_ONE_AMOUNT = [
    "It's between £410 and £500.",
    "It's £410-£500.",
    "It's £410-500.",
    "It's £410 - £500.",
    "It's £410 to £500.",
    "It's £410 or £500.",
    "It's £410 or so.",
    "It's from £410.",
    "It's about £410.",
    "It's approx. £410.",
    "It's (roughly) £410, roughly £410.",
    "It's up to £410.",
    "It's ~£410.",
    "It's £410+.",
    "It's £410ish.",
    "It's under £410.",
    "It was £410.",
    "It's -£410.",
    "It's £410².",
    "It's £\u03364\u03361\u03360.",
    "It's $410.",
    "It's 410 euros.",
    "It's AED 410.",
    "It's £410, which is 480 dollars.",
    "It's £410. No wait, scrap that.",
    "It's £410 million.",
    "It's £410 O00.",
]


@pytest.mark.parametrize("text", NOT_ONE_AMOUNT)
def test_what_is_not_one_certain_amount_in_pounds_is_no_price(text: str) -> None:
    grounded = ground_text(text, extracted(prices=("410",)))

    assert grounded.price_components.verified_value is None
    assert grounded.total_pence.verified_value is None


REOPENED = [
    "£410 less 15%",
    "£410 with 15 per cent off",
    "£410 and there is a discount",
    "£410. The discount comes later.",
    "£410 deposit",
    "£410 in instalments",
    "£410 a month",
    "£410 per visit",
    "£410 weekly",
    "£410 hourly",
    "£410 is the first payment",
    "£410. Add the scan too.",
    "£4 100 0, not sure",
    "£410 each",
    "£410 apiece",
    "£410/visit",
    "£410pcm or £410 pcm",
    "£410 plus VAT",
    "£410. VAT is on top.",
    "£410 plus the anaesthetist",
    "£410 after the refund",
    "£410 is what I paid",
    "£410 is my budget",
    "I need four sessions. The price is £410.",
    "£410 and 60 for the dressing",
    "£410 here, 9500 there",
    "£410. How much is the scan?",
    "£410 and another one for my wife",
]


@pytest.mark.parametrize("text", REOPENED)
def test_words_that_change_what_a_price_means_leave_the_total_open(text: str) -> None:
    total = total_of(text, "410")

    assert total.verified_value is None


COUNTED = [
    ("four £410 visits", 4),
    ("4 x £410", 4),
    ("£410 x4", 4),
    ("£410x4", 4),
    ("five at £410", 5),
    ("six sessions at £410 each", 6),
    ("£410 each, six sessions please", 6),
    ("£410 a month for 6 months", 6),
    ("both knees, £410 each", 2),
    ("£410 each so £820 for both", 2),
    ("£820 for two sessions", 2),
]


@pytest.mark.parametrize(("text", "count"), COUNTED)
@pytest.mark.parametrize("times", [1, 2])
def test_quantities_multiply_whether_or_not_the_model_counted(text: str, count: int, times: int) -> None:
    price = "820" if text.startswith("£820") else "410"
    extracted_prices = (price,) * (count if times > 1 and price == "410" else 1)

    assert total_of(text, *extracted_prices).verified_value == 410_00 * count


def test_a_percentage_off_leaves_the_component_verified_and_the_total_open() -> None:
    grounded = ground_text("£410 less 15%", extracted(prices=("410",)))

    assert grounded.price_components.verified_value == (410_00,)
    assert grounded.total_pence.status is AMBIGUOUS


PLAIN_SUM = "£2,100 for the lens and £1,300 for the frame"
WITH_TOTAL = PLAIN_SUM + ", £3,400 altogether"

TWO_WAY = [
    (PLAIN_SUM, ("2100", "1300"), VERIFIED, 3_400_00),
    (PLAIN_SUM, ("1300", "2100"), VERIFIED, 3_400_00),
    (PLAIN_SUM, ("2100",), CONFLICTING, None),
    (PLAIN_SUM, ("3400",), VERIFIED, 3_400_00),
    (PLAIN_SUM, ("2100", "1300", "3400"), VERIFIED, 3_400_00),
    (PLAIN_SUM, ("2100", "2100", "1300"), UNSUPPORTED, None),
    (PLAIN_SUM, (), CONFLICTING, None),
    (WITH_TOTAL, ("2100", "1300"), VERIFIED, 3_400_00),
    (WITH_TOTAL, ("2100", "1300", "3400"), VERIFIED, 3_400_00),
    (WITH_TOTAL, ("3400",), VERIFIED, 3_400_00),
    ("The total is £3,400: £2,100 and £1,300.", ("2100", "1300"), VERIFIED, 3_400_00),
    (PLAIN_SUM + ", £3,500 altogether", ("2100", "1300"), CONFLICTING, None),
    (PLAIN_SUM + ", £3,500 altogether", ("2100", "1300", "3500"), CONFLICTING, None),
    (PLAIN_SUM + " and £3,400 for the laser", ("2100", "1300"), CONFLICTING, None),
    (PLAIN_SUM + " and £3,400 for the laser", ("2100", "1300", "3400"), AMBIGUOUS, None),
    ("£700 left, £700 right", ("700",), CONFLICTING, None),
    ("£700 left, £700 right", ("700", "700"), VERIFIED, 1_400_00),
    ("£700 altogether", ("700",), VERIFIED, 700_00),
    ("No price yet", (), MISSING, None),
    ("No price yet", ("700",), UNSUPPORTED, None),
    ("I'm free on Monday", ("0",), MISSING, None),
    ("£700", ("700.001",), IMPOSSIBLE, None),
    ("£700", ("-700",), IMPOSSIBLE, None),
    ("£700", ("NaN",), IMPOSSIBLE, None),
    ("£700", ("Infinity",), IMPOSSIBLE, None),
    ("£1 " * 11, ("1",) * 11, IMPOSSIBLE, None),
    ("£9.500", ("9500",), AMBIGUOUS, None),
    ("£9.500", ("9.5",), AMBIGUOUS, None),
]


@pytest.mark.parametrize(("text", "prices", "status", "pence"), TWO_WAY)
def test_every_component_needs_a_mention_and_every_mention_an_explanation(
    text: str, prices: tuple[str, ...], status: str, pence: int | None
) -> None:
    total = total_of(text, *prices)

    assert (total.status, total.verified_value) == (status, pence)


@pytest.mark.parametrize(
    ("text", "price"),
    [
        ("Call 07700 900123 about the price", "7700"),
        ("Order no. 4471, what does it cost?", "4471"),
        ("I am 5 foot 11, cost unknown", "11"),
        ("Flat 12, price to follow", "12"),
        ("quoted on 3/12/2026 at 14:30", "14"),
        ("I have 3 cats", "3"),
        ("price 410 for 2 visits", "410"),
        ("price 410, scan 300", "410"),
    ],
)
def test_a_number_that_is_no_price_supports_none(text: str, price: str) -> None:
    assert total_of(text, price).verified_value is None
