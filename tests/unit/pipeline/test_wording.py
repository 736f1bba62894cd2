"""Templates stand in for the model, so each must pass the check that the model's words must pass."""

from datetime import UTC, date, datetime, time
from itertools import product
from zoneinfo import ZoneInfo

import pytest

from app.pipeline.consistency import inconsistencies
from app.pipeline.designs import NARRATE
from app.pipeline.validate import violations
from app.pipeline.wording import brief, template
from app.policy import POLICY, Action, Decision, Facts, decide

RECEIVED = datetime(2026, 11, 29, 18, 0, tzinfo=UTC)
DECISIONS = [
    decide(Facts(age, total, day, moment, RECEIVED, ZoneInfo("Europe/London")), POLICY)
    for age, total, day, moment in product(
        (None, 17, 34, 71),
        (None, 2_400_00, 10_750_00, 12_500_00),
        (None, date(2020, 1, 1), date(2026, 12, 8)),
        (None, time(14, 30)),
    )
]


@pytest.mark.parametrize("decision", DECISIONS, ids=lambda d: f"{d.rule}-{'+'.join(d.missing_facts)}")
def test_every_template_agrees_with_its_decision(decision: Decision) -> None:
    text = template(decision)

    assert inconsistencies(decision.action, decision.appointment is not None, text, brief(decision)) == ()
    assert list(violations({"response_text": text}, NARRATE.schema.json_schema)) == []


def test_a_booking_names_its_day_and_time_in_full() -> None:
    booked = next(d for d in DECISIONS if d.action is Action.BOOK_APPOINTMENT)

    assert template(booked) == "Thank you. Your appointment is booked for Tuesday 8 December 2026 at 14:30."


def test_an_escalation_asks_for_everything_that_is_missing() -> None:
    unknown = DECISIONS[0]

    assert template(unknown).endswith(
        "please tell us the age of the person attending, the price of the services, the date and the time."
    )
