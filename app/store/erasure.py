"""Erases what customers and models wrote; facts and decisions stay, and still recompute."""

from dataclasses import asdict, dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import ColumnElement, delete, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection
from uuid6 import uuid7

from app.store.tables import consultation_contents, consultations, erasures, llm_call_contents


@dataclass(frozen=True)
class Receipt:
    """Kept for good: what was erased, when and for whom. It names no customer and holds no words."""

    id: UUID
    consultation_id: UUID | None
    conversation_id: str | None
    requested_by: str
    requested_at: datetime
    contents_erased: int
    """Checks whose messages and reply were there and are gone."""
    calls_erased: int
    """Calls whose raw output was there and is gone."""


async def erase_check(connection: AsyncConnection, check_id: UUID, by: str, at: datetime) -> Receipt | None:
    """None if no check has this id. A second time there is nothing left to erase, and a receipt that says so."""
    known = await connection.execute(select(consultations.c.id).where(consultations.c.id == check_id))
    if known.first() is None:
        return None
    return await _erase(connection, consultations.c.id == check_id, Receipt(uuid7(), check_id, None, by, at, 0, 0))


async def erase_conversation(connection: AsyncConnection, conversation_id: str, by: str, at: datetime) -> Receipt:
    """Of all its checks up to this moment, also those whose records arrive later."""
    receipt = Receipt(uuid7(), None, conversation_id, by, at, 0, 0)
    return await _erase(connection, consultations.c.conversation_id == conversation_id, receipt)


async def _erase(connection: AsyncConnection, chosen: ColumnElement[bool], receipt: Receipt) -> Receipt:
    checks = select(consultations.c.id).where(chosen)
    calls = await connection.execute(delete(llm_call_contents).where(llm_call_contents.c.consultation_id.in_(checks)))
    contents = await connection.execute(
        delete(consultation_contents).where(consultation_contents.c.consultation_id.in_(checks))
    )
    done = asdict(receipt) | {"contents_erased": contents.rowcount, "calls_erased": calls.rowcount}
    await connection.execute(insert(erasures), done)
    return Receipt(**done)
