"""The call log's database: bounded in time, whatever the server does."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, OperationalError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine

from app.errors import StoreUnavailable
from app.store.database_url import postgres_url, with_server_settings
from app.store.records import CheckRecord
from app.store.rows import Entry, insert_checks, select_answered, select_check

T = TypeVar("T")

WRITE_SECONDS = 5.0
READ_SECONDS = 3.0
RETRY_SECONDS = 0.1


class RecordsRefused(Exception):
    """The database is there and does not take these records."""


class Postgres:
    """A migrated database. Every method raises StoreUnavailable when it does not answer in time."""

    def __init__(self, database_url: str, *, pool_size: int = 5) -> None:
        url = with_server_settings(
            postgres_url(database_url),
            statement_timeout="3s",
            lock_timeout="3s",
            idle_in_transaction_session_timeout="10s",
            timezone="UTC",
        )
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

    async def insert(self, entries: Sequence[Entry]) -> int:
        """All of them or none; ids that are there change nothing. Returns how many are new. Raises RecordsRefused.

        Tried once: after StoreUnavailable they may be there, when only the confirmation was lost.
        """

        async def work(connection: AsyncConnection) -> int:
            return await insert_checks(connection, entries)

        try:
            return await self.transact(work, WRITE_SECONDS, f"{len(entries)} records cannot be written")
        except StoreUnavailable as error:
            if isinstance(error.__cause__, DataError | IntegrityError):
                raise RecordsRefused(_cause(error.__cause__)) from error
            raise

    async def read(self, check_id: UUID) -> CheckRecord | None:
        return await self._read(lambda connection: select_check(connection, check_id), f"check {check_id}")

    async def read_answered(self, caller: str, key: str, since: datetime) -> CheckRecord | None:
        """The newest answered check of this caller with this idempotency key that began after `since`."""
        return await self._read(
            lambda connection: select_answered(connection, caller, key, since), "a check with this idempotency key"
        )

    async def ping(self) -> None:
        async def select_one(connection: AsyncConnection) -> None:
            await connection.execute(text("SELECT 1"))

        await self.transact(select_one, READ_SECONDS, "the database cannot be used")

    async def transact(self, work: Callable[[AsyncConnection], Awaitable[T]], seconds: float, problem: str) -> T:
        """One transaction of `work`, given up after `seconds`; `problem` begins the error's message."""

        async def transaction() -> T:
            async with self._engine.begin() as connection:
                return await work(connection)

        return await self._bounded(seconds, transaction(), problem)

    async def aclose(self) -> None:
        if self._running:
            await asyncio.wait(self._running, timeout=WRITE_SECONDS)
        await self._engine.dispose()

    async def _read(self, query: Callable[[AsyncConnection], Awaitable[T]], what: str) -> T:
        async def connected() -> T:
            async with self._engine.connect() as connection:
                return await query(connection)

        return await self._bounded(READ_SECONDS, _retried(connected, READ_SECONDS), f"{what} cannot be read")

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
    """A database that is restarting is tried again."""
    deadline = asyncio.get_running_loop().time() + seconds
    while True:
        try:
            return await attempt()
        except DBAPIError as error:
            if not _is_lost(error) or asyncio.get_running_loop().time() + RETRY_SECONDS > deadline:
                raise
        await asyncio.sleep(RETRY_SECONDS)


def _is_lost(error: DBAPIError) -> bool:
    return isinstance(error, OperationalError) or error.connection_invalidated


def _cause(error: SQLAlchemyError) -> str:
    """The name of what happened only: a database's own message can quote the row."""
    return type(error.orig if isinstance(error, DBAPIError) else error).__name__
