"""The policy: rules in the order tried; the first that applies decides."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from app.policy.decision import Action, Appointment, FactName, ReasonCode
from app.policy.facts import Facts
from app.policy.limits import (
    BOOKING_LIMIT_PENCE,
    MAXIMUM_AGE_YEARS,
    MINIMUM_AGE_YEARS,
    REDUCED_SCOPE_LIMIT_PENCE,
    pounds,
)

Inputs = dict[str, str | int | None]


@dataclass(frozen=True)
class Verdict:
    """What a rule that applies decides."""

    criteria_met: bool
    reason_code: ReasonCode
    action: Action
    appointment: Appointment | None = None
    missing_facts: tuple[FactName, ...] = ()


@dataclass(frozen=True)
class Rule:
    name: str
    clause: str
    inputs: Callable[[Facts], Inputs]
    """What the rule looks at, for the trace."""
    verdict: Callable[[Facts], Verdict | None]
    """None: the rule does not apply; the next one is tried."""


def _escalate(*missing: FactName) -> Verdict:
    return Verdict(False, ReasonCode.INSUFFICIENT_INFO, Action.ESCALATE_HUMAN, missing_facts=missing)


def _age_and_total(facts: Facts) -> Inputs:
    return {"age_years": facts.age_years, "total_pence": facts.total_pence}


def _age(facts: Facts) -> Inputs:
    return {"age_years": facts.age_years}


def _total(facts: Facts) -> Inputs:
    return {"total_pence": facts.total_pence}


def _appointment(facts: Facts) -> Inputs:
    return {
        "requested_date": facts.requested_date.isoformat() if facts.requested_date else None,
        "requested_time": facts.requested_time.isoformat("minutes") if facts.requested_time else None,
        "received_at": facts.received_at.isoformat(),
        "timezone": str(facts.timezone),
    }


def _age_or_total_unknown(facts: Facts) -> Verdict | None:
    missing: list[FactName] = []
    if facts.age_years is None:
        missing.append("customer_age")
    if facts.total_pence is None:
        missing.append("total")
    return _escalate(*missing, *_missing_when(facts)) if missing else None


def _under_age(facts: Facts) -> Verdict | None:
    if facts.age_years is not None and facts.age_years < MINIMUM_AGE_YEARS:
        return Verdict(False, ReasonCode.UNDER_AGE, Action.DECLINE)
    return None


def _over_age(facts: Facts) -> Verdict | None:
    return _escalate() if facts.age_years is not None and facts.age_years > MAXIMUM_AGE_YEARS else None


def _over_reduced_scope_limit(facts: Facts) -> Verdict | None:
    if facts.total_pence is not None and facts.total_pence > REDUCED_SCOPE_LIMIT_PENCE:
        return Verdict(False, ReasonCode.OVER_LIMIT, Action.DECLINE)
    return None


def _over_booking_limit(facts: Facts) -> Verdict | None:
    if facts.total_pence is not None and facts.total_pence > BOOKING_LIMIT_PENCE:
        return Verdict(False, ReasonCode.OVER_LIMIT, Action.OFFER_ALTERNATIVE)
    return None


def _date_or_time_unknown(facts: Facts) -> Verdict | None:
    missing = _missing_when(facts)
    return _escalate(*missing) if missing else None


def _missing_when(facts: Facts) -> tuple[FactName, ...]:
    missing: list[FactName] = []
    if facts.requested_date is None:
        missing.append("requested_date")
    if facts.requested_time is None:
        missing.append("requested_time")
    return tuple(missing)


def _requested_start(facts: Facts) -> datetime:
    assert facts.requested_date is not None and facts.requested_time is not None
    return datetime.combine(facts.requested_date, facts.requested_time, facts.timezone)


def _impossible_time(facts: Facts) -> Verdict | None:
    # An hour that the clocks skip in spring does not survive the way to UTC and back.
    start = _requested_start(facts)
    exists = start.astimezone(UTC).astimezone(facts.timezone).replace(tzinfo=None) == start.replace(tzinfo=None)
    return None if exists else _escalate("requested_time")


def _past(facts: Facts) -> Verdict | None:
    if _requested_start(facts).astimezone(UTC) > facts.received_at.astimezone(UTC):
        return None
    local_day = facts.received_at.astimezone(facts.timezone).date()
    same_day = facts.requested_date == local_day
    return _escalate("requested_time") if same_day else _escalate("requested_date")


def _eligible(facts: Facts) -> Verdict | None:
    assert facts.requested_date is not None and facts.requested_time is not None
    appointment = Appointment(facts.requested_date, facts.requested_time)
    return Verdict(True, ReasonCode.ELIGIBLE, Action.BOOK_APPOINTMENT, appointment)


_MINIMUM, _MAXIMUM = MINIMUM_AGE_YEARS, MAXIMUM_AGE_YEARS
_BOOKING, _REDUCED = pounds(BOOKING_LIMIT_PENCE), pounds(REDUCED_SCOPE_LIMIT_PENCE)
_WHEN_CLAUSE = "6. The date or the time is missing, impossible or past: a person decides."

RULES: tuple[Rule, ...] = (
    Rule(
        "age_or_total_unknown",
        "1. The age or the total cannot be determined: a person decides.",
        _age_and_total,
        _age_or_total_unknown,
    ),
    Rule("under_age", f"2. Under {_MINIMUM}: decline.", _age, _under_age),
    Rule("over_age", f"3. Over {_MAXIMUM}: a person decides.", _age, _over_age),
    Rule("over_reduced_scope_limit", f"4. Total above {_REDUCED}: decline.", _total, _over_reduced_scope_limit),
    Rule(
        "over_booking_limit",
        f"5. Total above {_BOOKING}, up to {_REDUCED}: offer a reduced-scope consultation.",
        _total,
        _over_booking_limit,
    ),
    Rule("date_or_time_unknown", _WHEN_CLAUSE, _appointment, _date_or_time_unknown),
    Rule("impossible_time", _WHEN_CLAUSE, _appointment, _impossible_time),
    Rule("past", _WHEN_CLAUSE, _appointment, _past),
    Rule("eligible", "7. Otherwise: book the requested date and time.", _appointment, _eligible),
)
