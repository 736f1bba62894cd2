"""What a design is: a prompt and a schema, as data. The designs themselves are in designs/, one file each."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from app.llm.engine import ChatMessage, OutputSchema, Prompt
from app.policy import POLICY_TEXT, Action, ReasonCode


class DesignName(StrEnum):
    """In the order of the study; the position is the number that X-Schema-Design also accepts."""

    BASE = "base"
    REASONED = "reasoned"
    TIERED = "tiered"
    TABLE = "table"
    PIPELINE = "pipeline"


class Enforcement(StrEnum):
    CONSTRAINED = "constrained"
    UNCONSTRAINED = "unconstrained"


@dataclass(frozen=True)
class ModelCall:
    """One question to the model: what never changes about it. Raise the version with any change of words or schema."""

    name: str
    version: str
    system: str
    examples: tuple[ChatMessage, ...]
    schema: OutputSchema
    max_tokens: int
    temperature: float
    """Used unless the caller asks for another."""

    def prompt(self, user: str) -> Prompt:
        """Constant text first, the customer's last: everything before it comes from the prefix cache."""
        messages = (ChatMessage("system", self.system), *self.examples, ChatMessage("user", user))
        return Prompt(self.name, self.version, messages)


def closed_object(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Every property required, in this order, and no other."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def or_null(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"anyOf": [dict(schema), {"type": "null"}]}


MAX_RESPONSE_CHARACTERS = 700

DECISION_PROPERTIES: dict[str, Any] = {
    "eligibility": closed_object(
        {
            "criteria_met": {"type": "boolean"},
            "reason_code": {"type": "string", "enum": [code.value for code in ReasonCode]},
        }
    ),
    "action": {"type": "string", "enum": [action.value for action in Action]},
    "appointment": or_null(closed_object({"date": {"type": "string"}, "time": {"type": "string"}})),
    "response_text": {"type": "string", "maxLength": MAX_RESPONSE_CHARACTERS},
}
"""The decision comes before the words, so that the model commits before it is pleasant."""

_REASON_CODES = " | ".join(f'"{code.value}"' for code in ReasonCode)
_ACTIONS = " | ".join(f'"{action.value}"' for action in Action)

DECISION_FORMAT = f"""  "eligibility": {{"criteria_met": true | false, "reason_code": {_REASON_CODES}}},
  "action": {_ACTIONS},
  "appointment": {{"date": "YYYY-MM-DD", "time": "HH:MM"}} | null,
  "response_text": "the reply to the customer, two or three sentences, at most {MAX_RESPONSE_CHARACTERS} characters\""""


def single_call(
    name: DesignName, version: str, before: Mapping[str, Any], before_format: str, max_tokens: int
) -> ModelCall:
    """A design in which the model decides: its own properties, then the decision.

    `before_format` describes `before` in the prompt, so that both enforcements read the same words.
    """
    system = (
        "You are the booking assistant of a clinic. Decide about the customer's request by the policy and reply.\n\n"
        f"{POLICY_TEXT}\n\n"
        "Answer with one JSON object on one line and nothing else, with these properties in this order:\n"
        f"{{\n{before_format}{DECISION_FORMAT}\n}}"
    )
    schema = OutputSchema(name.value, closed_object({**before, **DECISION_PROPERTIES}))
    return ModelCall(name.value, version, system, (), schema, max_tokens, temperature=0.7)
