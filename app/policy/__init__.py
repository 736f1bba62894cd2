"""Plain, versioned rules: verified facts in, one explained decision out. No model, no clock, no I/O."""

from app.policy.decide import POLICY, Policy, decide
from app.policy.decision import Action, Appointment, Decision, FactName, ReasonCode, TraceStep
from app.policy.facts import Facts
from app.policy.limits import pounds
from app.policy.text import POLICY_TEXT

__all__ = [
    "POLICY",
    "POLICY_TEXT",
    "Action",
    "Appointment",
    "Decision",
    "FactName",
    "Facts",
    "Policy",
    "ReasonCode",
    "TraceStep",
    "decide",
    "pounds",
]
