"""Hours: how they are written, and whether they are the one asked for."""

from datetime import time

import pytest

from tests.unit.pipeline.grounding.check import (
    AMBIGUOUS,
    CONFLICTING,
    MISSING,
    UNSUPPORTED,
    extracted,
    ground_turns,
    hour_in,
)


@pytest.mark.parametrize(
    ("text", "words", "hour"),
    [
        ("at 15:40", "15:40", time(15, 40)),
        ("at 15:40:00", "15:40", time(15, 40)),
        ("3pm", "3pm", time(15)),
        ("3 p.m. please", "3 p.m.", time(15)),
        ("3.40pm", "3.40pm", time(15, 40)),
        ("9.20am", "9.20am", time(9, 20)),
        ("11 am", "11 am", time(11)),
        ("noon", "noon", time(12)),
        ("midday", "midday", time(12)),
        ("12 noon", "12 noon", time(12)),
        ("12pm", "12pm", time(12)),
        ("12.30pm", "12.30pm", time(12, 30)),
        ("5:20", "5:20", time(17, 20)),
        ("08:50", "08:50", time(8, 50)),
        ("20:10", "20:10", time(20, 10)),
        ("3 o'clock", "3 o'clock", time(15)),
        ("three o'clock", "three o'clock", time(15)),
        ("10 in the morning", "10 in the morning", time(10)),
        ("half ten", "half ten", time(10, 30)),
        ("half past two", "half past two", time(14, 30)),
        ("quarter past 9", "quarter past 9", time(9, 15)),
        ("quarter to five", "quarter to five", time(16, 45)),
        ("half past 8 in the evening", "half past 8 in the evening", time(20, 30)),
        ("Good evening! 10am", "10am", time(10)),
        ("Tuesday morning, 10am", "10:00", time(10)),
        ("2026-12-17T14:30", "14:30", time(14, 30)),
    ],
)
def test_one_clear_hour_is_verified(text: str, words: str, hour: time) -> None:
    assert hour_in(text, words).verified_value == hour


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("tomorrow 4", "4"),
        ("tomorrow at 4", "4"),
        ("8 to 9", "8"),
        ("between 2 and 4pm", "4pm"),
        ("2-4pm", "4pm"),
        ("2pm-4pm", "2pm"),
        ("10:00-11:00", "10:00"),
        ("2pm to 4pm", "2pm"),
        ("2pm or 3pm", "2pm"),
        ("after 3pm", "3pm"),
        ("before 3pm", "3pm"),
        ("3pm at the earliest", "3pm"),
        ("quarter of 3pm", "3pm"),
        ("around 3pm", "3pm"),
        ("from 3pm", "3pm"),
        ("3pm onwards", "3pm"),
        ("not 3pm", "3pm"),
        ("I can't make 3pm", "3pm"),
        ("evening, 8:30", "8:30"),
        ("morning, 10pm", "10pm"),
        ("two ten pm", "ten pm"),
        ("10 10 am", "10 am"),
        ("04:30", "04:30"),
        ("12am", "12am"),
        ("13pm", "13pm"),
        ("25:70", "25:70"),
        ("midnight", "midnight"),
        ("3pm EST", "3pm"),
        ("3pm New York time", "3pm"),
        ("I finish work at 3pm", "3pm"),
        ("3pm. No wait, an hour later", "3pm"),
    ],
)
def test_an_hour_left_open_is_not_verified(text: str, words: str) -> None:
    assert hour_in(text, words).verified_value is None


@pytest.mark.parametrize(
    ("text", "hour"),
    [
        ("at 14.30", time(14, 30)),
        ("ten past three pm", time(15, 10)),
        ("twenty to four pm", time(15, 40)),
        ("at ten to nine", time(8, 50)),
        ("twenty-five past ten in the morning", time(10, 25)),
        ("1530 hours", time(15, 30)),
        ("in half an hour", time(18, 30)),
        ("10h30, merci bonjour", time(10, 30)),
        ("9am, no wait, 11am", time(11)),
        ("tomorrow morning at 10", time(10)),
        ("Friday afternoon at 2 please", time(14)),
    ],
)
def test_an_hour_that_must_be_reckoned_is_verified(text: str, hour: time) -> None:
    assert hour_in(text, text).verified_value == hour


@pytest.mark.parametrize(
    ("text", "words", "status"),
    [
        ("3pm", "4pm", CONFLICTING),
        ("3pm", None, CONFLICTING),
        ("no hour here", "3pm", UNSUPPORTED),
        ("no hour here", None, MISSING),
        ("call 07700 900123", "07:70", UNSUPPORTED),
    ],
)
def test_an_hour_the_text_does_not_bear_out_is_not_verified(text: str, words: str | None, status: str) -> None:
    assert hour_in(text, words).status is status


def test_an_hour_the_assistant_offered_counts_once_accepted() -> None:
    grounded = ground_turns(
        extracted(hour="10am"), ("customer", "10am"), ("assistant", "Could you do 11am?"), ("customer", "Yes please")
    )

    assert grounded.requested_time.verified_value == time(11)


@pytest.mark.parametrize("reply", ["11 would suit", "Oh, make it 11", "An hour later please"])
def test_an_hour_that_later_turns_may_have_moved_is_ambiguous(reply: str) -> None:
    grounded = ground_turns(
        extracted(hour="10am"), ("customer", "10am"), ("assistant", "Could you do 11am?"), ("customer", reply)
    )

    assert grounded.requested_time.status is AMBIGUOUS
