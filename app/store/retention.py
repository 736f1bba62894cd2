"""What is kept for how long: customers' words for weeks, decisions for years."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from uuid import UUID

from sqlalchemy import Table, delete, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from app.errors import StoreUnavailable
from app.store.partitions import creation, month_of_partition, uuid7_floor
from app.store.postgres import Postgres
from app.store.set_aside import remove_older_set_aside
from app.store.tables import consultation_contents, consultations, llm_call_contents, llm_calls

logger = logging.getLogger(__name__)

EVERY_SECONDS = 3600.0
BATCH_ROWS = 1000
STEP_SECONDS = 10.0
RETENTION_LOCK = 4_207_849_485
"""Key of the advisory lock: one service does it at a time."""

Step = Callable[[AsyncConnection], Awaitable[int]]
"""Returns how many things it removed."""

CONTENTS = (llm_call_contents, consultation_contents)
DECISIONS = (llm_calls, consultations)
"""Rows that refer to others stand before them."""


@dataclass(frozen=True)
class RetentionPeriods:
    contents: timedelta
    """Messages, replies, raw outputs."""
    decisions: timedelta | None
    """Everything else about a check, None for ever. Contents never outlive it."""


@dataclass(frozen=True)
class RetentionDone:
    contents: int
    decisions: int
    partitions: int


class Retention:
    def __init__(
        self, postgres: Postgres, spool_root: Path, periods: RetentionPeriods, now: Callable[[], datetime]
    ) -> None:
        self._postgres = postgres
        self._spool_root = spool_root
        self._periods = periods
        self._now = now

    async def keep_going(self) -> None:
        """For ever: at once, and then every hour. A database that is away is asked again the next time."""
        while True:
            try:
                done = await self.run()
                logger.info("retention.finished", extra=vars(done))
            except StoreUnavailable as error:
                logger.warning("retention.failed", extra={"reason": str(error)})
            await asyncio.sleep(EVERY_SECONDS)

    async def run(self) -> RetentionDone:
        """Short transactions, one after the other; safe to interrupt and to repeat. Raises StoreUnavailable."""
        await self._step(_make_partitions(self._now()))
        contents_end = self._now() - self._periods.contents
        remove_older_set_aside(self._spool_root, contents_end)
        contents, partitions = await self._remove(CONTENTS, contents_end)
        if self._periods.decisions is None:
            return RetentionDone(contents, 0, partitions)
        decisions, more = await self._remove(DECISIONS, self._now() - self._periods.decisions)
        return RetentionDone(contents, decisions, partitions + more)

    async def _remove(self, tables: tuple[Table, ...], end: datetime) -> tuple[int, int]:
        """Rows and partitions that are gone."""
        partitions = await self._step(_drop_partitions(tables, end))
        rows = 0
        for table in tables:
            while removed := await self._step(_delete_rows(table, uuid7_floor(end))):
                rows += removed
        return rows, partitions

    async def _step(self, work: Step) -> int:
        async def alone(connection: AsyncConnection) -> int:
            lock = text(f"SELECT pg_try_advisory_xact_lock({RETENTION_LOCK})")
            return await work(connection) if (await connection.execute(lock)).scalar_one() else 0

        return await self._postgres.transact(alone, STEP_SECONDS, "retention cannot go on")


def _make_partitions(now: datetime) -> Step:
    async def step(connection: AsyncConnection) -> int:
        for statement in creation(now.date()):
            await connection.execute(text(statement))
        return 0

    return step


def _drop_partitions(tables: tuple[Table, ...], end: datetime) -> Step:
    """Whole months that are over: nothing of them has to be looked at row by row."""

    async def step(connection: AsyncConnection) -> int:
        dropped = 0
        for table in tables:
            found = await connection.execute(_PARTITIONS, {"parent": table.name})
            for name in found.scalars().all():
                month = month_of_partition(name)
                if month is not None and month.plus(1).start <= end:
                    # Detached first: what refers to the table is bound to each of its partitions.
                    await connection.execute(text(f"ALTER TABLE {table.name} DETACH PARTITION {name}"))
                    await connection.execute(text(f"DROP TABLE {name}"))
                    dropped += 1
        return dropped

    return step


_PARTITIONS = text(
    "SELECT child.relname FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid "
    "JOIN pg_class parent ON parent.oid = inhparent WHERE parent.relname = :parent"
)


def _delete_rows(table: Table, end: UUID) -> Step:
    async def step(connection: AsyncConnection) -> int:
        key = table.c.id if table is consultations else table.c.consultation_id
        some = select(key).where(key < end).distinct().limit(BATCH_ROWS)
        return (await connection.execute(delete(table).where(key.in_(some)))).rowcount

    return step
