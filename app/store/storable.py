"""Text and JSON in the shape Postgres can hold, and back: nothing is lost, and whatever was changed is visible.

Postgres refuses NUL and lone surrogates in text and jsonb, and non-finite numbers in jsonb. Model output can hold them
all. Each becomes ␛ and its name: NUL is ``␛0000``, ``inf`` is ``␛inf``, and ␛ itself is ``␛241b``.
"""

import math
import re
from typing import Any

MARK = "\u241b"
_UNSTORABLE = re.compile(f"[\x00\ud800-\udfff{MARK}]")
_MARKED = re.compile(f"{MARK}([0-9a-f]{{4}})")
_NUMBERS = {f"{MARK}{name}": float(name) for name in ("inf", "-inf", "nan")}


def to_text(text: str) -> str:
    return _UNSTORABLE.sub(lambda found: f"{MARK}{ord(found[0]):04x}", text)


def from_text(text: str) -> str:
    return _MARKED.sub(lambda found: chr(int(found[1], 16)), text)


def to_json(value: Any) -> Any:
    """A JSON value with every string, key and number storable as jsonb."""
    if isinstance(value, str):
        return to_text(value)
    if isinstance(value, float) and not math.isfinite(value):
        return f"{MARK}{value}"
    if isinstance(value, dict):
        return {to_text(key): to_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    return value


def from_json(value: Any) -> Any:
    if isinstance(value, str):
        return _NUMBERS[value] if value in _NUMBERS else from_text(value)
    if isinstance(value, dict):
        return {from_text(key): from_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [from_json(item) for item in value]
    return value
