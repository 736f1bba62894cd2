"""Days: how they are written, and whether they are the one asked for. Received on Sunday 29 November 2026."""

from datetime import date

import pytest

from tests.unit.pipeline.grounding.check import (
    CONFLICTING,
    IMPOSSIBLE,
    MISSING,
    UNSUPPORTED,
    day_in,
    extracted,
    ground_turns,
)


@pytest.mark.parametrize(
    ("text", "words", "day"),
    [
        ("on 2026-12-17", "2026-12-17", date(2026, 12, 17)),
        ("2026-12-17T14:30 please", "2026-12-17", date(2026, 12, 17)),
        ("17 December 2026", "17 December 2026", date(2026, 12, 17)),
        ("17 Dec", "17 Dec", date(2026, 12, 17)),
        ("December 17th, 2026", "December 17th, 2026", date(2026, 12, 17)),
        ("Thursday 17 December", "Thursday 17 December", date(2026, 12, 17)),
        ("Thursday, 17 December", "Thursday", date(2026, 12, 17)),
        ("17 December (Thursday)", "17 December", date(2026, 12, 17)),
        ("the 17th of December", "the 17th of December", date(2026, 12, 17)),
        ("17 December", "2026-12-17", date(2026, 12, 17)),
        ("5/12 suits", "5/12", date(2026, 12, 5)),
        ("05/12/2026", "05/12/2026", date(2026, 12, 5)),
        ("5.12.2026", "5.12.2026", date(2026, 12, 5)),
        ("5/12/26", "5/12/26", date(2026, 12, 5)),
        ("7 March", "7 March", date(2027, 3, 7)),
        ("29 November", "29 November", date(2026, 11, 29)),
        ("today", "today", date(2026, 11, 29)),
        ("tomorrow", "tomorrow", date(2026, 11, 30)),
        ("on Thursday", "Thursday", date(2026, 12, 3)),
        ("this Thursday", "this Thursday", date(2026, 12, 3)),
        ("next Thursday", "next Thursday", date(2026, 12, 3)),
        ("Thursday the 3rd", "Thursday the 3rd", date(2026, 12, 3)),
        ("2 June 2026", "2 June 2026", date(2026, 6, 2)),
        ("I was hoping for 17 December", "17 December", date(2026, 12, 17)),
        ("17 December at 10am, it may rain", "17 December", date(2026, 12, 17)),
    ],
)
def test_one_clear_day_is_verified(text: str, words: str, day: date) -> None:
    assert day_in(text, words).verified_value == day


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("17 or 18 December", "18 December"),
        ("17, 18 December", "18 December"),
        ("17-18 December", "18 December"),
        ("17 December or 18 December", "17 December"),
        ("Friday 17 December", "Friday 17 December"),
        ("Thursday next week", "Thursday"),
        ("Thursday in two weeks", "Thursday"),
        ("Sunday", "Sunday"),
        ("every Thursday", "Thursday"),
        ("not 17 December", "17 December"),
        ("I can't do 17 December", "17 December"),
        ("17 December is no good", "17 December"),
        ("17 December doesn't suit", "17 December"),
        ("before 17 December", "17 December"),
        ("by 17 December", "17 December"),
        ("the week of 17 December", "17 December"),
        ("17 December at the latest", "17 December"),
        ("anything but 17 December", "17 December"),
        ("17 December, but don't book yet", "17 December"),
        ("17 December. Alternatively later that week.", "17 December"),
        ("my friend has hers on 17 December", "17 December"),
        ("my last visit was 17 December", "17 December"),
        ("the quote is valid until 17 December", "17 December"),
        ("please cancel 17 December", "17 December"),
        ("move my 17 December visit", "17 December"),
        ("17 December, no wait, the day later", "17 December"),
        ("my old visit was 14 September, the new one 14 December", "14 December"),
        ("12/25/2026", "12/25/2026"),
        ("Thursday 17", "Thursday"),
        ("next week", "next week"),
    ],
)
def test_a_day_left_open_is_not_verified(text: str, words: str) -> None:
    assert day_in(text, words).verified_value is None


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("the 17th", date(2026, 12, 17)),
        ("Thursday week", date(2026, 12, 10)),
        ("a week on Thursday", date(2026, 12, 10)),
        ("the day after tomorrow", date(2026, 12, 1)),
        ("in three days", date(2026, 12, 2)),
        ("the seventeenth of December", date(2026, 12, 17)),
        ("Christmas Eve", date(2026, 12, 24)),
        ("le jeudi 17 décembre, merci", date(2026, 12, 17)),
        ("not Wednesday, I meant Thursday", date(2026, 12, 3)),
        ("My last visit was 14 September. I'd like 14 December", date(2026, 12, 14)),
    ],
)
def test_a_day_that_must_be_reckoned_or_told_apart_is_verified(text: str, day: date) -> None:
    assert day_in(text, text).verified_value == day


def test_the_weekday_that_replaces_a_day_is_of_the_same_week() -> None:
    text = "Wednesday 9 December. Oh hang on, I'm away that day. The Thursday instead."

    assert day_in(text, "The Thursday").verified_value == date(2026, 12, 10)


@pytest.mark.parametrize(
    ("text", "words", "status"),
    [
        ("31 November", "31 November", IMPOSSIBLE),
        ("30 Feb", "30 Feb", IMPOSSIBLE),
        ("2026-13-40", "2026-13-40", IMPOSSIBLE),
        ("17 December", "18 December", CONFLICTING),
        ("17 December", None, CONFLICTING),
        ("17 December", "some day", CONFLICTING),
        ("no day here", "17 December", UNSUPPORTED),
        ("no day here", None, MISSING),
        ("open 24/7, blood pressure 120/80", "24/7", UNSUPPORTED),
    ],
)
def test_a_day_the_text_does_not_bear_out_is_not_verified(text: str, words: str | None, status: str) -> None:
    assert day_in(text, words).status is status


@pytest.mark.parametrize(
    ("suggestion", "day"),
    [
        ("We are full. Would Friday 18 December suit?", 18),
        ("That was Thursday 17 December, correct?", 17),
    ],
)
def test_what_the_customer_accepts_is_the_day(suggestion: str, day: int) -> None:
    grounded = ground_turns(
        extracted(day="Thursday 17 December"),
        ("customer", "Thursday 17 December please"),
        ("assistant", suggestion),
        ("customer", "Yes please"),
    )

    assert grounded.requested_date.verified_value == date(2026, 12, day)
