"""A check's record as the JSON that stands in the spool and that Postgres takes apart."""

import json
from typing import Any

from pydantic import TypeAdapter

from app.store.records import CheckRecord
from app.store.storable import MARK, from_json, to_json

_ADAPTER = TypeAdapter(CheckRecord)

_SIGNS_OF_UNSTORABLE = (b"\\u0000", MARK.encode())


def to_json_bytes(record: CheckRecord) -> bytes:
    """UTF-8 JSON that jsonb accepts; see storable.py for what Postgres does not hold as it is."""
    try:
        data = _ADAPTER.dump_json(record)
    except ValueError:  # lone surrogates
        return _with_marks(record)
    return _with_marks(record) if any(sign in data for sign in _SIGNS_OF_UNSTORABLE) else data


def from_json_bytes(data: bytes) -> CheckRecord:
    """Also of an older version: what it did not know has its default. Raises ValueError for what is no record."""
    if _SIGNS_OF_UNSTORABLE[1] not in data:
        return _ADAPTER.validate_json(data)
    values: Any = from_json(json.loads(data))
    return _ADAPTER.validate_python(values)


def _with_marks(record: CheckRecord) -> bytes:
    values = _ADAPTER.dump_python(record)
    return json.dumps(to_json(values), ensure_ascii=False, default=_plain).encode()


def _plain(value: Any) -> str:
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
