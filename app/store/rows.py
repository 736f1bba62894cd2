"""A check's record as rows, and back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Table, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from app.store.records import ANSWERED, CallRecord, CheckRecord
from app.store.storable import from_json
from app.store.tables import consultation_contents, consultations, llm_call_contents, llm_calls

_CHECK_COLUMNS = [field.name for field in fields(CheckRecord) if field.name in consultations.c]
_CALL_COLUMNS = [field.name for field in fields(CallRecord) if field.name in llm_calls.c]


@dataclass(frozen=True)
class Entry:
    """A record as it stands in the spool: its JSON, and its place in what its process wrote."""

    record: bytes
    boot: UUID
    sequence: int

    @property
    def json(self) -> bytes:
        head = f'{{"boot":"{self.boot}","sequence":{self.sequence},"record":'
        return head.encode() + self.record + b"}"


async def insert_checks(connection: AsyncConnection, entries: Sequence[Entry]) -> int:
    """Insert all rows of these records in one statement; an id that is there changes nothing. Returns how many are new.

    Postgres takes the JSON apart, so that a long backlog costs this process next to nothing. Contents whose erasure was
    asked for before they arrived are left out.
    """
    array = b"[" + b",".join(entry.json for entry in entries) + b"]"
    inserted = await connection.execute(_INSERT, {"entries": array.decode()})
    return int(inserted.scalar_one())


def _names(table: Table, prefix: str = "") -> str:
    return ", ".join(f"{prefix}{column.name}" for column in table.c)


# RI: the rows of one statement are checked at its end, so parents and children may go in together.
_INSERT = text(
    f"""
    WITH input AS MATERIALIZED (
        SELECT DISTINCT ON (entry->'record'->>'id')
            entry->'record' AS record,
            CAST(entry->'record'->>'id' AS uuid) AS id,
            entry->'boot' AS boot,
            entry->'sequence' AS sequence
        FROM jsonb_array_elements(CAST(:entries AS jsonb)) AS entry
    ), fresh AS (
        INSERT INTO consultations ({_names(consultations)})
        SELECT {_names(consultations, "row.")}
        FROM input, jsonb_populate_record(CAST(NULL AS consultations), record || jsonb_build_object(
            'action', record->'decision'->'action',
            'reason_code', record->'decision'->'reason_code',
            'spool_boot', boot,
            'spool_sequence', sequence
        )) AS row
        ON CONFLICT DO NOTHING
        RETURNING id
    ), calls AS (
        INSERT INTO llm_calls ({_names(llm_calls)})
        SELECT {_names(llm_calls, "row.")}
        FROM input JOIN fresh USING (id),
            jsonb_array_elements(record->'calls') WITH ORDINALITY AS one(call, position),
            jsonb_populate_record(CAST(NULL AS llm_calls), call || jsonb_build_object(
                'consultation_id', id, 'ordinal', position - 1
            )) AS row
    ), kept AS (
        SELECT input.id, record FROM input JOIN fresh USING (id)
        WHERE NOT EXISTS (
            SELECT FROM erasures WHERE erasures.consultation_id = input.id
        ) AND NOT EXISTS (
            SELECT FROM erasures
            WHERE erasures.conversation_id = record->>'conversation_id'
                AND erasures.requested_at >= CAST(record->>'started_at' AS timestamptz)
        )
    ), contents AS (
        INSERT INTO consultation_contents (consultation_id, messages, response_text)
        SELECT id, record->'messages', record->>'response_text' FROM kept
    ), outputs AS (
        INSERT INTO llm_call_contents (consultation_id, ordinal, raw_output)
        SELECT id, position - 1, call->>'raw_output'
        FROM kept, jsonb_array_elements(record->'calls') WITH ORDINALITY AS one(call, position)
        WHERE call->>'raw_output' IS NOT NULL
    )
    SELECT count(*) FROM fresh
    """  # noqa: S608 - column names of our own tables
)


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


async def select_answered(connection: AsyncConnection, caller: str, key: str, since: datetime) -> CheckRecord | None:
    """The newest answered check of a caller with this idempotency key, begun after `since`."""
    found = await connection.execute(
        select(consultations.c.id)
        .where(consultations.c.caller == caller, consultations.c.idempotency_key == key)
        .where(consultations.c.started_at > since, consultations.c.outcome.in_(ANSWERED))
        .order_by(consultations.c.started_at.desc())
        .limit(1)
    )
    check_id = found.scalar()
    return await select_check(connection, check_id) if check_id is not None else None


async def _select_calls(connection: AsyncConnection, check_id: UUID) -> tuple[CallRecord, ...]:
    found = await connection.execute(
        select(*llm_calls.c, llm_call_contents.c.raw_output)
        .select_from(llm_calls.outerjoin(llm_call_contents))
        .where(llm_calls.c.consultation_id == check_id)
        .order_by(llm_calls.c.ordinal)
    )
    rows = [_values(row) for row in found.mappings()]
    return tuple(CallRecord(**{name: row[name] for name in [*_CALL_COLUMNS, "raw_output"]}) for row in rows)


def _values(row: Mapping[Any, Any]) -> dict[str, Any]:
    return {name: from_json(value) for name, value in row.items()}
