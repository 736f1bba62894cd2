"""A check's record as rows, and back."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any
from uuid import UUID

from sqlalchemy import insert, select
from sqlalchemy.dialects.postgresql import insert as insert_or_skip
from sqlalchemy.ext.asyncio import AsyncConnection

from app.store.records import CallRecord, CheckRecord
from app.store.storable import from_json, to_json, to_text
from app.store.tables import consultation_contents, consultations, llm_call_contents, llm_calls

_CHECK_COLUMNS = [field.name for field in fields(CheckRecord) if field.name in consultations.c]
_CALL_COLUMNS = [field.name for field in fields(CallRecord) if field.name in llm_calls.c]


async def insert_check(connection: AsyncConnection, record: CheckRecord) -> None:
    """Insert all rows of a record, or none if its id is there: an erased content must not come back."""
    statement = insert_or_skip(consultations).on_conflict_do_nothing().returning(consultations.c.id)
    inserted = await connection.execute(statement, _check_row(record))
    if inserted.first() is None:
        return
    await connection.execute(insert(consultation_contents), _content_row(record))
    if record.calls:
        await connection.execute(
            insert(llm_calls), [_call_row(record, ordinal) for ordinal in range(len(record.calls))]
        )
    outputs = [
        {"call_id": call.id, "raw_output": to_text(call.raw_output)}
        for call in record.calls
        if call.raw_output is not None
    ]
    if outputs:
        await connection.execute(insert(llm_call_contents), outputs)


async def select_check(connection: AsyncConnection, check_id: UUID) -> CheckRecord | None:
    joined = consultations.outerjoin(consultation_contents)
    columns = [*consultations.c, consultation_contents.c.messages, consultation_contents.c.response_text]
    found = await connection.execute(select(*columns).select_from(joined).where(consultations.c.id == check_id))
    row = found.mappings().first()
    if row is None:
        return None
    values = _values(row)
    return CheckRecord(
        **{name: values[name] for name in _CHECK_COLUMNS} | {"flags": tuple(values["flags"])},
        messages=tuple(values["messages"] or ()),
        response_text=values["response_text"],
        calls=await _select_calls(connection, check_id),
    )


async def _select_calls(connection: AsyncConnection, check_id: UUID) -> tuple[CallRecord, ...]:
    found = await connection.execute(
        select(*llm_calls.c, llm_call_contents.c.raw_output)
        .select_from(llm_calls.outerjoin(llm_call_contents))
        .where(llm_calls.c.consultation_id == check_id)
        .order_by(llm_calls.c.ordinal)
    )
    rows = [_values(row) for row in found.mappings()]
    return tuple(CallRecord(**{name: row[name] for name in [*_CALL_COLUMNS, "raw_output"]}) for row in rows)


def _check_row(record: CheckRecord) -> dict[str, Any]:
    decision = record.decision or {}
    copied = {name: decision.get(name) for name in ("action", "reason_code")}
    return _storable({name: getattr(record, name) for name in _CHECK_COLUMNS} | copied)


def _content_row(record: CheckRecord) -> dict[str, Any]:
    values = {"consultation_id": record.id, "messages": record.messages, "response_text": record.response_text}
    return _storable(values)


def _call_row(record: CheckRecord, ordinal: int) -> dict[str, Any]:
    call = record.calls[ordinal]
    values = {"consultation_id": record.id, "ordinal": ordinal}
    return _storable({name: getattr(call, name) for name in _CALL_COLUMNS} | values)


def _storable(values: Mapping[str, Any]) -> dict[str, Any]:
    # Double columns hold inf and nan as they are; only jsonb does not.
    return {name: value if isinstance(value, float) else to_json(value) for name, value in values.items()}


def _values(row: Mapping[Any, Any]) -> dict[str, Any]:
    return {name: from_json(value) for name, value in row.items()}
