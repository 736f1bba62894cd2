"""The reply must say what was decided. Each row is a reply, what was decided, and what a reader would object to."""

import pytest

from app.pipeline.consistency import inconsistencies
from app.policy import Action

STATED = "Decision: booked. The appointment is on Tuesday 8 December 2026 at 14:30."


@pytest.mark.parametrize(
    "text",
    [
        "You're booked for Tuesday 8 December 2026 at 14:30.",
        "Your appointment is on Tuesday the 8th of December at 2:30pm. See you on Tuesday!",
        "All set for Tuesday, 8 December 2026 at 2.30 pm.",
        "You're booked in on Tue 8 Dec 2026, 14:30.",
        "Booked: 08/12/2026 at 14:30.",
        "Your slot on the eighth of December is reserved.",
    ],
)
def test_a_booking_may_be_confirmed_in_any_form_of_its_own_time(text: str) -> None:
    assert inconsistencies(Action.BOOK_APPOINTMENT, True, text, STATED) == ()


@pytest.mark.parametrize(
    ("text", "flag"),
    [
        ("You're booked for Tuesday 8 December 2026 at 15:30.", "figure_not_in_decision"),
        ("You're booked for Tuesday 9 December 2026 at 14:30.", "date_not_in_decision"),
        ("You're booked for Wednesday 8 December 2026 at 14:30.", "date_not_in_decision"),
        ("You're booked for Tuesday 8 January 2026 at 14:30.", "date_not_in_decision"),
        ("You're booked for tomorrow.", "date_not_in_decision"),
        ("You're booked for 8 Jan 2026 at 14:30.", "date_not_in_decision"),
        ("You're booked for Mon 8 December 2026.", "date_not_in_decision"),
        ("You're booked for the ninth of December.", "date_not_in_decision"),
        ("You're booked for 8/8/2026 at 14:30.", "date_not_in_decision"),
        ("You're booked for 2026-12-09 at 14:30.", "date_not_in_decision"),
        ("You're booked for December 9th.", "date_not_in_decision"),
        ("You're booked for 8 December 2027.", "figure_not_in_decision"),
        ("A member of our team will get back to you.", "book_but_handover_language"),
        ("Booked. That will be £250.", "figure_not_in_decision"),
        ("Booked; please arrive fifteen minutes early.", "figure_not_in_decision"),
        ("Unfortunately we cannot offer this appointment.", "book_but_decline_language"),
        ("We are unable to book you in.", "book_but_decline_language"),
    ],
)
def test_a_booking_is_flagged_for(text: str, flag: str) -> None:
    assert flag in inconsistencies(Action.BOOK_APPOINTMENT, True, text, STATED)


def test_a_booking_without_an_appointment_is_flagged() -> None:
    assert inconsistencies(Action.BOOK_APPOINTMENT, False, "Booked.", "") == ("book_but_appointment_null",)


def test_an_appointment_without_a_booking_is_flagged() -> None:
    flags = inconsistencies(Action.DECLINE, True, "We cannot take this on.", "")

    assert flags == ("non_book_but_appointment_populated",)


@pytest.mark.parametrize(
    "text",
    [
        "You're booked for the consultation.",
        "You\u2019re booked in.",
        "You have been scheduled.",
        "Your appointment has been confirmed.",
        "We look forward to seeing you.",
        "See you on Monday.",
        "You are confirmed for the visit.",
        "We've reserved your slot.",
        "We are pleased to confirm your appointment.",
        "Your booking has been successfully confirmed.",
        "Your appointment has now been booked.",
        "You are successfully booked.",
        "You're confirmed!",
        "We will book your appointment.",
    ],
)
@pytest.mark.parametrize("action", [Action.DECLINE, Action.OFFER_ALTERNATIVE, Action.ESCALATE_HUMAN])
def test_nobody_is_told_of_a_booking_that_does_not_exist(text: str, action: Action) -> None:
    assert "booking_confirmation" in inconsistencies(action, False, text, "Monday")


@pytest.mark.parametrize(
    "text",
    [
        "Your appointment is on Monday at 10:00.",
        "We will see you on Monday.",
        "The slot will be held for you at 10:00.",
    ],
)
def test_nobody_is_told_a_time_as_if_it_were_agreed(text: str) -> None:
    assert "time_stated_as_agreed" in inconsistencies(Action.ESCALATE_HUMAN, False, text, "monday 10:00")


@pytest.mark.parametrize(
    "text",
    [
        "Thank you. A member of our team will look at your request. Could you tell us the date and time you want?",
        "We can offer a consultation of reduced scope instead. Would you like that?",
        "Your appointment has not been booked yet.",
        "Unfortunately we cannot take on requests above £12,000.",
        "We may be able to help; someone will march through your request.",
    ],
)
def test_a_reply_that_promises_nothing_passes(text: str) -> None:
    assert inconsistencies(Action.ESCALATE_HUMAN, False, text, "above our limit of £12,000") == ()
