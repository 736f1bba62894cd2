"""A decision in words: the brief that the model narrates from, and the template that stands in for it."""

from datetime import date, time

from app.policy import Action, Appointment, Decision, FactName, ReasonCode, pounds
from app.policy.limits import (
    BOOKING_LIMIT_PENCE,
    MINIMUM_AGE_YEARS,
    REDUCED_SCOPE_LIMIT_PENCE,
)

FACT_WORDS: dict[FactName, str] = {
    "customer_age": "the age of the person attending",
    "total": "the price of the services",
    "requested_date": "the date",
    "requested_time": "the time",
}

HANDED_OVER = "Thank you for your message. A member of our team will look at your request and get back to you."

_BOOKING, _REDUCED = pounds(BOOKING_LIMIT_PENCE), pounds(REDUCED_SCOPE_LIMIT_PENCE)


def spoken_date(day: date) -> str:
    """Tuesday 8 December 2026."""
    return f"{day:%A} {day.day} {day:%B %Y}"


def spoken_time(moment: time) -> str:
    return f"{moment:%H:%M}"


def brief(decision: Decision) -> str:
    """All that the narrating model is told. It never sees the customer's text, so the text cannot talk to it."""
    match decision.action, decision.reason_code:
        case Action.BOOK_APPOINTMENT, _:
            return f"Decision: booked. The appointment is on {_when(decision.appointment)}."
        case Action.DECLINE, ReasonCode.UNDER_AGE:
            return f"Decision: declined. Consultations are for people aged {MINIMUM_AGE_YEARS} or over. No appointment."
        case Action.DECLINE, _:
            return f"Decision: declined. Requests above {_REDUCED} in total cannot be taken on. No appointment."
        case Action.OFFER_ALTERNATIVE, _:
            return (
                f"Decision: not booked as requested. The total is above {_BOOKING}. We offer a consultation of reduced "
                "scope instead and ask whether the customer would like that. No appointment yet."
            )
        case _:
            return f"Decision: a member of the team will look at this request.{_unknown(decision)} No appointment yet."


def template(decision: Decision) -> str:
    """The reply when the model's words cannot be used: plain, and always right."""
    match decision.action, decision.reason_code:
        case Action.BOOK_APPOINTMENT, _:
            return f"Thank you. Your appointment is booked for {_when(decision.appointment)}."
        case Action.DECLINE, ReasonCode.UNDER_AGE:
            return (
                f"Thank you for your message. Our consultations are for people aged {MINIMUM_AGE_YEARS} or over, "
                "so we cannot offer this appointment."
            )
        case Action.DECLINE, _:
            return (
                f"Thank you for your message. We cannot take on requests above {_REDUCED} in total, "
                "so we cannot offer this appointment."
            )
        case Action.OFFER_ALTERNATIVE, _:
            return (
                f"Thank you for your message. The total is above {_BOOKING}, so we cannot take it on as it is, "
                "but we can offer a consultation of reduced scope. Would you like that?"
            )
        case _:
            return _escalation(decision)


def _escalation(decision: Decision) -> str:
    if not decision.missing_facts:
        return HANDED_OVER
    return f"{HANDED_OVER} To help them, please tell us {_listed(decision.missing_facts)}."


def _unknown(decision: Decision) -> str:
    if decision.missing_facts:
        return f" Not known yet: {', '.join(FACT_WORDS[name] for name in decision.missing_facts)}."
    return " Nothing more is needed from the customer."


def _listed(names: tuple[FactName, ...]) -> str:
    words = [FACT_WORDS[name] for name in names]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _when(appointment: Appointment | None) -> str:
    assert appointment is not None, "a booking has an appointment"
    return f"{spoken_date(appointment.date)} at {spoken_time(appointment.time)}"
