"""The scenarios' labels are held to the policy code, without any model; files that cannot be used are named."""

import json
import re
from collections import Counter
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from app.pipeline.grounding import ExtractedFacts, Message, ground
from app.policy import POLICY, Decision, Facts, decide
from eval import scenarios
from eval.errors import EvalError
from eval.scenarios import CONTROL_GROUP, OWN, Scenario

ALL = scenarios.load(OWN, controls=True).scenarios


def decided(scenario: Scenario) -> Decision:
    facts = scenario.facts
    total = int(scenario.total * 100) if facts.price_components else None
    known = Facts(
        facts.customer_age, total, facts.requested_date, facts.requested_time, scenario.received_at,
        ZoneInfo(scenario.timezone),
    )  # fmt: skip
    return decide(known, POLICY)


@pytest.mark.parametrize("scenario", ALL, ids=lambda scenario: scenario.id)
def test_the_known_outcome_is_what_the_policy_decides(scenario: Scenario) -> None:
    decision = decided(scenario)

    assert (decision.action, decision.reason_code, decision.criteria_met) == (
        scenario.action, scenario.reason_code, scenario.criteria_met,
    )  # fmt: skip
    booked = decision.appointment and (decision.appointment.date, decision.appointment.time)
    assert booked == (scenario.appointment and (scenario.appointment.date, scenario.appointment.time))


@pytest.mark.parametrize("scenario", ALL, ids=lambda scenario: scenario.id)
def test_rightly_extracted_facts_are_found_in_the_message(scenario: Scenario) -> None:
    """What is left to the model is to copy; then the pipeline decides as known."""
    message, facts = scenario.turns[0].content, scenario.facts
    day = re.search(r"\d+ \w+ \d{4}", message)
    hour = re.search(r"[\d:]+[ap]m", message)
    extracted = ExtractedFacts(facts.customer_age, tuple(facts.price_components), day and day[0], hour and hour[0])
    zone = ZoneInfo(scenario.timezone)

    grounded = ground(extracted, [Message("customer", message)], scenario.received_at, zone)

    decision = decide(grounded.to_policy_facts(scenario.received_at, zone), POLICY)
    assert (decision.action, decision.reason_code) == (scenario.action, scenario.reason_code), grounded


def test_there_are_five_scenarios_in_each_of_five_groups_and_three_controls() -> None:
    groups = Counter(scenario.group for scenario in ALL)

    assert groups.pop(CONTROL_GROUP) == 3
    assert list(groups.values()) == [5] * 5
    assert len(scenarios.load(OWN).scenarios) == 25


def test_band_boundaries_are_sums_at_the_limits_and_between() -> None:
    band = [scenario for scenario in ALL if scenario.group == "band"]

    assert sorted(scenario.total for scenario in band) == [10_000, 10_750, 11_250, 11_600, 12_000]
    assert all(len(scenario.facts.price_components) > 1 for scenario in band)


@pytest.mark.parametrize("scenario", ALL, ids=lambda scenario: scenario.id)
def test_a_written_weekday_agrees_with_the_date_and_everything_known_stands_in_the_message(scenario: Scenario) -> None:
    message, facts = scenario.turns[0].content, scenario.facts

    if facts.requested_date is not None:
        day = facts.requested_date
        assert f"{day:%A} {day.day} {day:%B %Y}" in message
        assert day > scenario.received_at.date()
    assert all(f"£{price:,}" in message for price in facts.price_components)
    assert len(re.findall("£", message)) == len(facts.price_components)
    assert facts.customer_age is None or str(facts.customer_age) in message


CASE = {
    "id": "case-1",
    "kind": "date",
    "message": "I'm 34, £400, 10 December 2026 at 10am",
    "received_at": "2026-11-29T18:00:00Z",
    "facts": {
        "customer_age": 34, "price_components": [400.5], "requested_date": "2026-12-10", "requested_time": "10:00",
    },
    "undeterminable": ["date"],
    "action": "book_appointment",
    "reason_code": "eligible",
    "source": "own",
    "note": "",
}  # fmt: skip


def test_a_labelled_case_becomes_a_scenario(tmp_path: Path) -> None:
    turns = [
        {"role": "customer", "content": "Hi"},
        {"role": "assistant", "content": "Age?"},
        {"role": "customer", "content": "34"},
    ]
    several = {key: value for key, value in CASE.items() if key != "message"} | {"id": "case-2", "messages": turns}
    file = tmp_path / "cases.jsonl"
    file.write_text(json.dumps(CASE) + "\n\n" + json.dumps(several) + "\n")

    one, two = scenarios.load(file).scenarios

    assert one.body(7)["message"] == CASE["message"]
    assert one.body(7)["sampling"] == {"seed": 7}
    assert two.body(7)["messages"] == turns
    assert one.undeterminable == {"requested_date"}
    assert one.facts.price_components == [Decimal("400.5")]
    assert one.appointment is not None and one.appointment.time.hour == 10


def test_the_file_names_its_scenarios_for_good_and_a_filtered_set_is_another() -> None:
    whole, filtered = scenarios.load(OWN), scenarios.load(OWN, contains="band")

    assert scenarios.load(OWN).sha256 == whole.sha256
    assert [scenario.group for scenario in filtered.scenarios] == ["band"] * 5
    assert filtered.sha256 != whole.sha256
    assert len(scenarios.load(OWN, limit=3).scenarios) == 3


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.json", "{", "Invalid JSON"),
        ("a.json", '{"about": "", "received_at": "2026-11-30T09:00:00Z", "timezone": "Europe/London"}', "scenarios"),
        ("a.jsonl", "not json\n", "line 1"),
        ("a.jsonl", json.dumps(CASE) + "\n" + json.dumps(CASE | {"id": "x", "action": "book"}), "line 2: action"),
        ("a.jsonl", json.dumps(CASE | {"messages": []}), "exactly one of message and messages"),
        ("a.jsonl", json.dumps(CASE) + "\n" + json.dumps(CASE), "'case-1' is used twice"),
        ("a.jsonl", "", "no scenario is left"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_used_is_named_with_the_reason(
    tmp_path: Path, name: str, content: str, says: str
) -> None:
    file = tmp_path / name
    file.write_text(content)

    with pytest.raises(EvalError, match=re.escape(says)) as raised:
        scenarios.load(file)

    assert str(file) in str(raised.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(EvalError, match="cannot be read"):
        scenarios.load(tmp_path / "none.json")
