"""From a design's schema to the one the grammar enforces."""

from collections.abc import Mapping
from typing import Any

LEFT_TO_CODE = frozenset({"maxLength"})
"""xgrammar's bounded strings admit raw control characters and forbid every escape, and its patterns forbid quotes. An
unbounded string is exact JSON; `max_tokens` bounds it and the pipeline's validator checks the length."""


def grammar_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema without the keywords that are checked in code. Property order stays."""
    return {key: _strip(value) for key, value in schema.items() if key not in LEFT_TO_CODE}


def _strip(value: Any) -> Any:
    if isinstance(value, Mapping):
        return grammar_schema(value)
    return [_strip(item) for item in value] if isinstance(value, list | tuple) else value
