"""Is a model's raw output a valid object of its design? Judged here again, by the rules in app/pipeline/validate.py."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.llm.engine import Generation
from app.pipeline.designs import ALL_CALLS
from app.pipeline.parse import ParsedOutput, parse_output

_SCHEMAS = {call.schema.sha256: call.schema for call in ALL_CALLS}


@dataclass(frozen=True)
class Validity:
    valid_json: bool
    """The output that the decision rests on is an instance of its schema, fences and chatter around it forgiven."""
    strict_json: bool
    """Every output of the check is the bare object."""
    field_order_ok: bool
    """In every output the properties came as declared, so that the words came after the decision."""


def judge(calls: Sequence[Mapping[str, Any]]) -> Validity | None:
    """`calls` as in GET /consultations/{id}, the deciding one first.

    None if it cannot be judged: raw outputs are not shown to this key, or the schemas are not those known here.
    """
    outputs = [_parsed(call) for call in calls]
    known = [output for output in outputs if output is not None]
    if not known or len(known) < len(outputs):
        return None
    return Validity(
        valid_json=known[0].value is not None,
        strict_json=all(output.strict for output in known),
        field_order_ok=all(output.field_order_ok for output in known),
    )


def _parsed(call: Mapping[str, Any]) -> ParsedOutput | None:
    schema = _SCHEMAS.get(call["schema_hash"])
    if call["raw_output"] is None or schema is None:
        return None
    return parse_output(Generation(call["raw_output"], call["finish_reason"], 0, 0, 0.0), schema)
