"""The policy as rows: facts, decision, clause; and its whole boundary grid."""

from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from itertools import product
from zoneinfo import ZoneInfo

import pytest

from app.policy import POLICY, POLICY_TEXT, Action, Facts, ReasonCode, decide

LONDON = ZoneInfo("Europe/London")
RECEIVED = datetime(2026, 11, 29, 18, 0, tzinfo=LONDON)
PLAIN = Facts(34, 2_400_00, date(2026, 12, 8), time(10, 0), RECEIVED, LONDON)

ESCALATE = (False, ReasonCode.INSUFFICIENT_INFO, Action.ESCALATE_HUMAN)
UNDER_AGE = (False, ReasonCode.UNDER_AGE, Action.DECLINE)
OVER_LIMIT = (False, ReasonCode.OVER_LIMIT, Action.DECLINE)
REDUCED = (False, ReasonCode.OVER_LIMIT, Action.OFFER_ALTERNATIVE)
BOOK = (True, ReasonCode.ELIGIBLE, Action.BOOK_APPOINTMENT)


def outcome(facts: Facts) -> tuple[bool, ReasonCode, Action]:
    decision = decide(facts, POLICY)
    return decision.criteria_met, decision.reason_code, decision.action


@pytest.mark.parametrize(
    ("age", "expected"),
    [(None, ESCALATE), (0, UNDER_AGE), (17, UNDER_AGE), (18, BOOK), (70, BOOK), (71, ESCALATE), (120, ESCALATE)],
)
def test_age_decides_before_the_total(age: int | None, expected: object) -> None:
    assert outcome(replace(PLAIN, age_years=age)) == expected


@pytest.mark.parametrize(
    ("total", "expected"),
    [
        (None, ESCALATE),
        (0, BOOK),
        (9_999_99, BOOK),
        (10_000_00, BOOK),
        (10_000_01, REDUCED),
        (11_999_99, REDUCED),
        (12_000_00, REDUCED),
        (12_000_01, OVER_LIMIT),
        (1_000_000_00, OVER_LIMIT),
    ],
)
def test_the_total_is_compared_to_the_penny(total: int | None, expected: object) -> None:
    assert outcome(replace(PLAIN, total_pence=total)) == expected


def test_an_under_age_customer_is_declined_whatever_else_is_missing() -> None:
    facts = replace(PLAIN, age_years=17, total_pence=50_000_00, requested_date=None, requested_time=None)

    assert outcome(facts) == UNDER_AGE


@pytest.mark.parametrize(
    ("day", "moment", "missing"),
    [
        (None, time(10), ("requested_date",)),
        (date(2026, 12, 8), None, ("requested_time",)),
        (None, None, ("requested_date", "requested_time")),
        (date(2026, 11, 28), time(10), ("requested_date",)),
        (date(2026, 11, 29), time(18, 0), ("requested_time",)),
        (date(2027, 3, 28), time(1, 30), ("requested_time",)),
    ],
    ids=["no date", "no time", "neither", "yesterday", "this very minute", "an hour that summer time skips"],
)
def test_a_person_decides_when_the_appointment_cannot_be_made(
    day: date | None, moment: time | None, missing: tuple[str, ...]
) -> None:
    decision = decide(replace(PLAIN, requested_date=day, requested_time=moment), POLICY)

    assert decision.action is Action.ESCALATE_HUMAN
    assert decision.missing_facts == missing
    assert decision.appointment is None


def test_one_minute_ahead_is_not_past() -> None:
    assert outcome(replace(PLAIN, requested_date=date(2026, 11, 29), requested_time=time(18, 1))) == BOOK


def test_past_is_measured_in_the_clinics_time_zone() -> None:
    tokyo = ZoneInfo("Asia/Tokyo")
    facts = replace(PLAIN, timezone=tokyo, requested_date=date(2026, 11, 30), requested_time=time(2, 59))

    assert outcome(facts) == ESCALATE
    assert outcome(replace(facts, requested_time=time(3, 1))) == BOOK


def test_missing_facts_are_all_named_at_once() -> None:
    decision = decide(Facts(None, None, None, None, RECEIVED, LONDON), POLICY)

    assert decision.missing_facts == ("customer_age", "total", "requested_date", "requested_time")


AGES = [None, *range(121)]
TOTALS = [None, 0, 1, *range(9_999_95, 10_000_06), *range(11_999_95, 12_000_06), 99_999_99]
WHENS = [
    (None, None),
    (date(2026, 12, 8), None),
    (None, time(10)),
    (date(2026, 11, 28), time(10)),
    (date(2026, 12, 8), time(10)),
]


def test_the_whole_grid_agrees_with_the_table_of_the_design() -> None:
    """An independent statement of the table, compared on every boundary."""
    for age, total, (day, moment) in product(AGES, TOTALS, WHENS):
        facts = replace(PLAIN, age_years=age, total_pence=total, requested_date=day, requested_time=moment)
        if age is None or total is None:
            expected = ESCALATE
        elif age < 18:
            expected = UNDER_AGE
        elif age > 70:
            expected = ESCALATE
        elif total > 1_200_000:
            expected = OVER_LIMIT
        elif total > 1_000_000:
            expected = REDUCED
        elif day is None or moment is None or day < date(2026, 11, 29):
            expected = ESCALATE
        else:
            expected = BOOK

        decision = decide(facts, POLICY)

        assert (decision.criteria_met, decision.reason_code, decision.action) == expected, facts
        assert (decision.appointment is not None) == (decision.action is Action.BOOK_APPOINTMENT)
        assert decision.criteria_met == (decision.action is Action.BOOK_APPOINTMENT)


def test_a_dearer_request_is_never_booked_when_a_cheaper_one_is_not() -> None:
    order = {Action.BOOK_APPOINTMENT: 0, Action.OFFER_ALTERNATIVE: 1, Action.DECLINE: 2}
    ranks = [order[decide(replace(PLAIN, total_pence=t), POLICY).action] for t in sorted(filter(None, TOTALS))]

    assert ranks == sorted(ranks)


def test_the_trace_shows_every_rule_in_order_with_what_it_saw() -> None:
    decision = decide(replace(PLAIN, total_pence=10_750_00), POLICY)

    assert [step.rule for step in decision.trace] == [rule.name for rule in POLICY.rules]
    outcomes = [step.outcome for step in decision.trace]
    assert outcomes == ["passed"] * 4 + ["decided"] + ["not_reached"] * 4
    deciding = decision.trace[4]
    assert deciding.inputs == {"total_pence": 10_750_00}
    assert deciding.clause.startswith("5. Total above £10,000, up to £12,000")
    assert decision.rule == "over_booking_limit"


def test_every_clause_of_the_trace_has_its_line_in_the_policy_text() -> None:
    lines = {line[:2] for line in POLICY_TEXT.splitlines() if line[:1].isdigit()}

    assert {rule.clause[:2] for rule in POLICY.rules} == lines


def test_the_policy_text_states_the_limits_in_force() -> None:
    for phrase in ("under 18", "over 70", "above £12,000", "above £10,000, up to £12,000"):
        assert phrase in POLICY_TEXT


def test_a_policy_is_known_by_version_and_content() -> None:
    decision = decide(PLAIN, POLICY)

    assert decision.policy_version == POLICY.version
    assert len(decision.policy_hash) == 64


def test_deciding_twice_gives_the_same_decision() -> None:
    moved = replace(PLAIN, received_at=PLAIN.received_at.astimezone(UTC) - timedelta(0))

    assert decide(PLAIN, POLICY) == decide(PLAIN, POLICY)
    assert outcome(moved) == outcome(PLAIN)
