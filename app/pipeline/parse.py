"""From the model's text to a validated object: leniently read, strictly judged."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from app.llm.engine import Generation, OutputSchema
from app.pipeline.validate import violations

MAX_NUMBER_EXPONENT = 15
"""No price or age needs more; 1e999999 would cost minutes as an integer."""


@dataclass(frozen=True)
class ParsedOutput:
    value: dict[str, Any] | None
    """The object if it satisfies the schema, else None. Numbers are int or Decimal, never float."""
    strict: bool
    """The whole text is the JSON object, without fences or chatter."""
    field_order_ok: bool
    """The properties came in the order declared, and so the words after the decision."""
    flag: str | None
    """Why there is no value: output_truncated, output_not_json or output_schema_violation."""


def parse_output(generation: Generation, schema: OutputSchema) -> ParsedOutput:
    """An answer cut short is never read as if it were whole."""
    if generation.finish_reason != "stop":
        return ParsedOutput(None, False, False, "output_truncated")
    strict_value = _loads(generation.text)
    strict = isinstance(strict_value, Mapping)
    value = strict_value if strict else _first_object(generation.text)
    if not isinstance(value, Mapping):
        return ParsedOutput(None, False, False, "output_not_json")
    declared = list(schema.json_schema["properties"])
    in_order = [name for name in value if name in declared] == [name for name in declared if name in value]
    if any(True for _ in violations(value, schema.json_schema)):
        return ParsedOutput(None, strict, in_order, "output_schema_violation")
    return ParsedOutput(dict(value), strict, in_order, None)


def _loads(text: str) -> Any:
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError, ArithmeticError):
        return None


def _first_object(text: str) -> Any:
    """The JSON object that begins at the first brace, whatever stands around it."""
    try:
        return _DECODER.raw_decode(text, text.index("{"))[0]
    except (ValueError, RecursionError, ArithmeticError):
        return None


def _number(text: str) -> Decimal:
    number = Decimal(text)
    if not number.is_finite() or abs(number.adjusted()) > MAX_NUMBER_EXPONENT:
        raise ValueError("a number out of any sensible range")
    return number


def _integer(text: str) -> int:
    if len(text) > MAX_NUMBER_EXPONENT + 1:
        raise ValueError("a number out of any sensible range")
    return int(text)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a property is given twice")
    return value


_DECODER = json.JSONDecoder(
    parse_float=_number, parse_int=_integer, parse_constant=_no_constant, object_pairs_hook=_unique
)
