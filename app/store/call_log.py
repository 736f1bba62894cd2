"""Keeps the record of every check; an answer implies a record."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol, TypeVar
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError
from sqlalchemy.ext.asyncio import create_async_engine

from app.errors import StoreUnavailable
from app.store.database_url import postgres_url, with_server_settings
from app.store.records import CheckRecord
from app.store.rows import insert_check, select_check

T = TypeVar("T")

WRITE_SECONDS = 5.0
"""Longest a write may take. Within it a database that is restarting is tried again: writes are idempotent."""
READ_SECONDS = 3.0
RETRY_SECONDS = 0.1


class CallLog(Protocol):
    async def write(self, record: CheckRecord) -> None:
        """Keep the record, all of it or nothing. Writing an id again changes nothing. Raises StoreUnavailable.

        After StoreUnavailable the record may still be there, when only the confirmation was lost.
        """

    async def read(self, check_id: UUID) -> CheckRecord | None:
        """The record, or None if no check has this id; erased contents read as no messages and None texts.

        Raises StoreUnavailable.
        """

    async def check(self) -> None:
        """Raises StoreUnavailable unless the log can be used now."""

    async def aclose(self) -> None: ...


class PostgresCallLog:
    """A call log in a migrated Postgres database."""

    def __init__(self, database_url: str, *, pool_size: int = 5, write_seconds: float = WRITE_SECONDS) -> None:
        url = with_server_settings(
            postgres_url(database_url),
            statement_timeout="3s",
            lock_timeout="3s",
            idle_in_transaction_session_timeout="10s",
            timezone="UTC",
        )
        self._write_seconds = write_seconds
        self._running: set[asyncio.Task[Any]] = set()
        self._engine = create_async_engine(
            url,
            pool_size=pool_size,
            max_overflow=pool_size,
            pool_timeout=3,
            pool_pre_ping=True,
            connect_args={"connect_timeout": 3},
            hide_parameters=True,  # parameters are the customer's words; errors end up in logs
        )

    async def write(self, record: CheckRecord) -> None:
        """See CallLog. Once begun, a write goes on when its caller is cancelled."""
        work = _retried(lambda: self._write(record), self._write_seconds)
        await self._bounded(self._write_seconds, work, f"check {record.id} cannot be written")

    async def read(self, check_id: UUID) -> CheckRecord | None:
        work = _retried(lambda: self._read(check_id), READ_SECONDS)
        return await self._bounded(READ_SECONDS, work, f"check {check_id} cannot be read")

    async def check(self) -> None:
        await self._bounded(READ_SECONDS, self._ping(), "the database cannot be used")

    async def aclose(self) -> None:
        if self._running:
            await asyncio.wait(self._running, timeout=self._write_seconds)
        await self._engine.dispose()

    async def _write(self, record: CheckRecord) -> None:
        async with self._engine.begin() as connection:
            await insert_check(connection, record)

    async def _read(self, check_id: UUID) -> CheckRecord | None:
        async with self._engine.connect() as connection:
            return await select_check(connection, check_id)

    async def _ping(self) -> None:
        async with self._engine.connect() as connection:
            await connection.execute(text("SELECT 1"))

    async def _bounded(self, seconds: float, work: Coroutine[Any, Any, T], problem: str) -> T:
        # Not asyncio.timeout: cancelling a query on a frozen server takes psycopg another ten seconds.
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._finish)
        await asyncio.wait({task}, timeout=seconds)
        if not task.done():
            task.cancel()
            raise StoreUnavailable(f"{problem}: no answer in {seconds:g} s; look at the database")
        try:
            return task.result()
        except SQLAlchemyError as error:
            raise StoreUnavailable(f"{problem}: {_cause(error)}; look at the database") from error

    def _finish(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # else asyncio reports it as never retrieved when the caller is gone


async def _retried(attempt: Callable[[], Awaitable[T]], seconds: float) -> T:
    deadline = asyncio.get_running_loop().time() + seconds
    while True:
        try:
            return await attempt()
        except DBAPIError as error:
            lost = isinstance(error, OperationalError) or error.connection_invalidated
            if not lost or asyncio.get_running_loop().time() + RETRY_SECONDS > deadline:
                raise
        await asyncio.sleep(RETRY_SECONDS)


def _cause(error: SQLAlchemyError) -> str:
    """The name of what happened only: a database's own message can quote the row."""
    return type(error.orig if isinstance(error, DBAPIError) else error).__name__
