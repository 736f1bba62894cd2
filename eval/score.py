"""An answer against its scenario's known outcome. Rules only."""

from collections.abc import Mapping
from decimal import Decimal
from enum import StrEnum
from typing import Any

from app.policy import Action
from eval.normalise import read_date, read_time
from eval.scenarios import FACT_FIELDS, Scenario

_STORED_FACT = {name: name for name in FACT_FIELDS} | {"price_components": "price_components_pence"}


class Outcome(StrEnum):
    RIGHT = "right"
    """Action and reason code as known; a booking with the known date and time."""
    SAFE = "safe"
    """A person was asked where a decisive answer was right."""
    WRONG = "wrong"
    """Another decisive answer that books nothing."""
    UNSAFE = "unsafe"
    """A booking that should not be, or for another date or time."""


def outcome(scenario: Scenario, reply: Mapping[str, Any]) -> Outcome:
    same_action = reply["action"] == scenario.action
    if reply["action"] == Action.BOOK_APPOINTMENT and not (same_action and appointment_right(scenario, reply)):
        return Outcome.UNSAFE
    if same_action and reply["eligibility"]["reason_code"] == scenario.reason_code:
        return Outcome.RIGHT
    return Outcome.SAFE if reply["action"] == Action.ESCALATE_HUMAN else Outcome.WRONG


def fully_correct(scenario: Scenario, reply: Mapping[str, Any]) -> bool:
    """Action, reason code, criteria flag and appointment."""
    return (
        reply["action"] == scenario.action
        and reply["eligibility"]["reason_code"] == scenario.reason_code
        and reply["eligibility"]["criteria_met"] is scenario.criteria_met
        and appointment_right(scenario, reply)
    )


def appointment_right(scenario: Scenario, reply: Mapping[str, Any]) -> bool:
    given, known = reply["appointment"], scenario.appointment
    if given is None or known is None:
        return given is None and known is None
    received_on = scenario.received_at.date()
    return read_date(given["date"], received_on) == known.date and read_time(given["time"]) == known.time


def facts_right(scenario: Scenario, reply: Mapping[str, Any]) -> dict[str, bool] | None:
    """By field, as the policy saw it; None for designs that state no facts.

    A field that the text leaves open is right if it is not taken for known.
    """
    if reply["facts"] is None:
        return None
    return {name: _fact_right(scenario, name, reply["facts"][_STORED_FACT[name]]) for name in FACT_FIELDS}


def _fact_right(scenario: Scenario, name: str, fact: Mapping[str, Any]) -> bool:
    value = fact["value"] if fact["status"] == "verified" else None
    if name in scenario.undeterminable:
        return not value
    known = getattr(scenario.facts, name)
    match name:
        case "price_components":
            wanted = sorted(int(price * Decimal(100)) for price in known if price)
            return sorted(pence for pence in value or [] if pence) == wanted
        case "requested_date":
            return bool(value == (known.isoformat() if known else None))
        case "requested_time":
            return bool(value == (known.isoformat("minutes") if known else None))
        case _:
            return bool(value == known)
