from typing import Any

import pytest

from eval import scenarios
from eval.scenarios import OWN
from eval.score import Outcome, facts_right, fully_correct, outcome

BY_ID = {scenario.id: scenario for scenario in scenarios.load(OWN, controls=True).scenarios}
BOOKED, OFFERED, DECLINED, ASKED = (
    BY_ID[name] for name in ("eligible-1", "band-10750", "under-age-1", "control-no-age")
)


def reply(
    action: str, reason: str, *, met: bool | None = None, appointment: tuple[str, str] | None = None
) -> dict[str, Any]:
    return {
        "action": action,
        "eligibility": {"criteria_met": action == "book_appointment" if met is None else met, "reason_code": reason},
        "appointment": {"date": appointment[0], "time": appointment[1]} if appointment else None,
    }


RIGHT_BOOKING = reply("book_appointment", "eligible", appointment=("2027-03-09", "10:30"))


@pytest.mark.parametrize(
    "written", [("Tuesday 9 March 2027", "10:30am"), ("9/3/2027", "10.30 AM"), ("2027-03-09", "10:30")]
)
def test_a_booking_for_the_known_moment_is_right_however_it_is_written(written: tuple[str, str]) -> None:
    answer = reply("book_appointment", "eligible", appointment=written)

    assert outcome(BOOKED, answer) is Outcome.RIGHT
    assert fully_correct(BOOKED, answer)


@pytest.mark.parametrize("appointment", [("2027-03-10", "10:30"), ("2027-03-09", "22:30"), ("tbc", "10:30"), None])
def test_a_booking_for_another_moment_is_unsafe(appointment: tuple[str, str] | None) -> None:
    answer = reply("book_appointment", "eligible", appointment=appointment)

    assert outcome(BOOKED, answer) is Outcome.UNSAFE
    assert not fully_correct(BOOKED, answer)


def test_any_booking_that_should_not_be_is_unsafe() -> None:
    assert outcome(OFFERED, RIGHT_BOOKING) is Outcome.UNSAFE
    assert outcome(ASKED, RIGHT_BOOKING) is Outcome.UNSAFE


def test_asking_a_person_where_a_decision_was_right_is_safe() -> None:
    assert outcome(BOOKED, reply("escalate_human", "insufficient_info")) is Outcome.SAFE
    assert outcome(DECLINED, reply("escalate_human", "insufficient_info")) is Outcome.SAFE


def test_another_decisive_answer_is_wrong() -> None:
    assert outcome(OFFERED, reply("decline", "over_limit")) is Outcome.WRONG
    assert outcome(ASKED, reply("decline", "under_age")) is Outcome.WRONG
    assert outcome(DECLINED, reply("decline", "over_limit")) is Outcome.WRONG


@pytest.mark.parametrize(
    "answer",
    [
        reply("offer_alternative", "over_limit", met=True),
        reply("offer_alternative", "insufficient_info"),
        reply("offer_alternative", "over_limit", appointment=("2027-04-21", "09:00")),
    ],
)
def test_fully_right_needs_all_four_fields(answer: dict[str, Any]) -> None:
    assert fully_correct(OFFERED, reply("offer_alternative", "over_limit"))
    assert not fully_correct(OFFERED, answer)


def facts(
    age: Any = 41, pence: Any = (425000, 650000), day: Any = "2027-04-21", hour: Any = "09:00", **status: str
) -> Any:
    values = {
        "customer_age": age,
        "price_components_pence": pence if pence is None else list(pence),
        "requested_date": day,
        "requested_time": hour,
    }
    return {"facts": {name: {"value": v, "status": status.get(name, "verified")} for name, v in values.items()}}


def test_facts_are_judged_by_field_and_prices_in_any_order() -> None:
    assert facts_right(OFFERED, facts()) == dict.fromkeys(
        ("customer_age", "price_components", "requested_date", "requested_time"), True
    )
    judged = facts_right(OFFERED, facts(age=14, pence=(650000, 425001, 0), hour="21:00"))
    assert judged == {"customer_age": False, "price_components": False, "requested_date": True, "requested_time": False}
    assert facts_right(OFFERED, {"facts": None}) is None


def test_a_fact_that_is_not_verified_is_not_known() -> None:
    judged = facts_right(OFFERED, facts(customer_age="ambiguous"))

    assert judged is not None and not judged["customer_age"]
    assert facts_right(ASKED, facts(None, (180000,), "2027-03-23", "14:00", customer_age="missing")) == dict.fromkeys(
        ("customer_age", "price_components", "requested_date", "requested_time"), True
    )


def test_what_the_text_leaves_open_is_right_if_it_is_not_taken_for_known() -> None:
    open_date = OFFERED.model_copy(update={"undeterminable": frozenset({"requested_date", "price_components"})})

    taken, left = facts_right(open_date, facts()), facts_right(open_date, facts(pence=None, requested_date="ambiguous"))

    assert taken is not None and not taken["requested_date"] and not taken["price_components"]
    assert left is not None and left["requested_date"] and left["price_components"]
