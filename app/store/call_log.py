"""Keeps the record of every check: durable on this machine before anybody is answered, in Postgres soon after."""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from app.errors import StartFailed, StoreUnavailable
from app.store.erasure import Receipt, erase_check, erase_conversation
from app.store.postgres import Postgres
from app.store.record_json import from_json_bytes, to_json_bytes
from app.store.records import CheckRecord
from app.store.set_aside import erase_set_aside, quarantine
from app.store.shipper import Shipper, Source
from app.store.spool import (
    BEGINNING,
    Appended,
    Frame,
    FrameKind,
    Spool,
    SpoolFailed,
    SpoolFolder,
    SpoolLimits,
    adopt_left_folders,
    leave,
)
from app.store.unshipped import Unshipped

T = TypeVar("T")

logger = logging.getLogger(__name__)

ACKNOWLEDGE_SECONDS = 5.0
"""A disk that takes longer is failing: the caller gets an error and may try again."""

OWED_RECORDS = 1000
"""Records that the disk did not take are kept in memory and tried again; beyond this the oldest is lost."""

OWED_SECONDS = 1.0
WATCH_SECONDS = 2.0
HEADROOM_BYTES = 8 * 1024 * 1024
"""Room kept for the records of checks that have begun."""

CLOSING_SECONDS = 10.0
"""How long a stopping service ships; what is left then is shipped by the next one."""

FLUSH_SECONDS = 10.0
ERASE_SECONDS = 10.0


class CallLog(Protocol):
    def require_room(self) -> None:
        """Raises StoreUnavailable when a check must not begin because its record could not be kept."""

    def begin(self, record: CheckRecord) -> None:
        """What is to be kept of a check should this process die before its end."""

    async def keep_decision(self, record: CheckRecord) -> None:
        """In place of what `begin` was given; durable when this returns. Raises StoreUnavailable."""

    async def write(self, record: CheckRecord) -> None:
        """Keep the record, all of it or nothing; durable when this returns. Writing an id again changes nothing.

        Raises StoreUnavailable; the record may then still turn up, when only the confirmation was lost. Once begun, a
        write goes on when its caller is cancelled.
        """

    async def read(self, check_id: UUID) -> CheckRecord | None:
        """The record, or None if no check has this id; erased contents read as no messages and None texts.

        Raises StoreUnavailable.
        """

    async def read_answered(self, caller: str, key: str, since: datetime) -> CheckRecord | None:
        """The newest answered check of a caller with this idempotency key. Raises StoreUnavailable."""

    async def erase_check(self, check_id: UUID, by: str, at: datetime) -> Receipt | None:
        """Erase what customer and model wrote in a check; None if no check has this id.

        Raises StoreUnavailable; then nothing is promised, and asking again is right.
        """

    async def erase_conversation(self, conversation_id: str, by: str, at: datetime) -> Receipt:
        """The same for every check of a conversation up to this moment."""

    async def check(self) -> None:
        """Raises StoreUnavailable unless records can be kept now."""

    async def aclose(self) -> None: ...


@dataclass(frozen=True)
class CallLogStats:
    """Numbers of this process since its start."""

    spool_bytes: int
    """Not in the database yet."""
    spool_max_bytes: int
    oldest_unshipped_seconds: float
    written: int
    shipped: int
    lost: int
    """Records that neither the disk nor the database took. Must stay 0."""
    damaged_bytes: int
    """Found torn or damaged in spools of dead processes. Must stay 0 but for a power failure."""


class SpooledCallLog:
    """A call log in a spool on this machine's disk, shipped to a migrated Postgres database."""

    def __init__(self, postgres: Postgres, root: Path, limits: SpoolLimits | None = None) -> None:
        self._postgres = postgres
        self._root = root
        self._limits = limits or SpoolLimits()
        self._unshipped = Unshipped()
        self._open_starts: dict[UUID, int] = {}
        self._owed: deque[CheckRecord] = deque()
        self._lost = 0
        self._database_problem = ""
        self._damaged: dict[UUID, dict[int, int]] = {}
        """Boot of a dead process -> its damaged segments -> bytes."""
        self._left: list[Source] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._writes: set[asyncio.Task[None]] = set()
        self._shipper = Shipper(postgres, partial(quarantine, root), self._shipped, self._quarantined)

    async def start(self) -> None:
        """Adopt what dead processes left, and begin to ship. Raises StartFailed if the spool cannot be used."""
        try:
            self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._spool = Spool(self._root, self._limits)
            interrupted = await asyncio.to_thread(self._adopt)
        except OSError as error:
            raise StartFailed(
                f"the spool in {str(self._root)!r} cannot be used: {error.strerror}; make room or set SPOOL_DIR"
            ) from error
        await asyncio.gather(*(self.write(record) for record in interrupted))
        self._tasks = [asyncio.create_task(work) for work in (self._ship(), self._pay_owed(), self._watch_database())]

    def require_room(self) -> None:
        if self._unshipped.size_bytes + HEADROOM_BYTES > self._limits.max_bytes:
            raise StoreUnavailable("the spool is full and the database does not take its records; try again later")
        if not self._spool.is_writable or self._owed:
            raise StoreUnavailable(f"records cannot be kept: {self._spool.reason or 'the disk is failing'}; make room")

    def begin(self, record: CheckRecord) -> None:
        self._open_starts[record.id] = self._spool.end.segment
        self._spool.append(FrameKind.STARTED, to_json_bytes(record))

    async def keep_decision(self, record: CheckRecord) -> None:
        try:
            async with asyncio.timeout(ACKNOWLEDGE_SECONDS):
                await self._spool.append_durably(FrameKind.STARTED, to_json_bytes(record))
        except (SpoolFailed, TimeoutError) as error:
            raise StoreUnavailable(f"the decision of check {record.id} cannot be kept; look at the disk") from error

    async def write(self, record: CheckRecord) -> None:
        work = asyncio.create_task(self._write(record))
        self._writes.add(work)
        work.add_done_callback(self._writes.discard)
        done, _ = await asyncio.wait({work}, timeout=ACKNOWLEDGE_SECONDS)
        if not done:
            raise StoreUnavailable(f"the disk did not take a record in {ACKNOWLEDGE_SECONDS:g} s; look at it")
        work.result()

    async def read(self, check_id: UUID) -> CheckRecord | None:
        return self._unshipped.read(check_id) or await self._postgres.read(check_id)

    async def read_answered(self, caller: str, key: str, since: datetime) -> CheckRecord | None:
        found = self._unshipped.read_answered(caller, key)
        if found is not None and found.started_at > since:
            return found
        if self._database_problem:
            raise StoreUnavailable(self._database_problem)  # known: not waited for
        return await self._postgres.read_answered(caller, key, since)

    async def check(self) -> None:
        self.require_room()

    async def check_database(self) -> None:
        """Raises StoreUnavailable if the database did not answer last time. Checks go on while the spool has room."""
        if self._database_problem:
            raise StoreUnavailable(f"{self._database_problem}; {len(self._unshipped)} records wait in the spool")

    async def flush(self) -> None:
        """Everything written so far is in the database, and nowhere else. Raises StoreUnavailable."""
        try:
            await self._spool.begin_new_segment()
        except SpoolFailed as error:
            raise StoreUnavailable(f"the spool cannot be emptied: {error}; make room") from error
        first_kept = self._spool.end.segment
        deadline = asyncio.get_running_loop().time() + FLUSH_SECONDS
        while self._left or any(number < first_kept for number in self._spool.folder.segments()):
            if asyncio.get_running_loop().time() > deadline:
                raise StoreUnavailable("the spool cannot be emptied into the database now; try again later")
            self._shipper.wake()
            await asyncio.sleep(0.02)

    async def erase_check(self, check_id: UUID, by: str, at: datetime) -> Receipt | None:
        return await self._erase(lambda connection: erase_check(connection, check_id, by, at), {"id": str(check_id)})

    async def erase_conversation(self, conversation_id: str, by: str, at: datetime) -> Receipt:
        return await self._erase(
            lambda connection: erase_conversation(connection, conversation_id, by, at),
            {"conversation_id": conversation_id},
        )

    async def _erase(self, work: Callable[[AsyncConnection], Awaitable[T]], named: Mapping[str, str]) -> T:
        """Out of the spool first, so that nothing is left that could be shipped later."""
        await self.flush()
        erase_set_aside(self._root, named)
        return await self._postgres.transact(work, ERASE_SECONDS, "nothing has been erased")

    @property
    def stats(self) -> CallLogStats:
        return CallLogStats(
            spool_bytes=self._unshipped.size_bytes,
            spool_max_bytes=self._limits.max_bytes,
            oldest_unshipped_seconds=self._unshipped.oldest_seconds,
            written=self._spool.written,
            shipped=self._shipper.shipped,
            lost=self._lost,
            damaged_bytes=sum(sum(segments.values()) for segments in self._damaged.values()),
        )

    async def aclose(self) -> None:
        """Ships what it can in a bounded time, then leaves the rest to the next start."""
        if self._writes:
            await asyncio.wait(self._writes, timeout=ACKNOWLEDGE_SECONDS)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CLOSING_SECONDS):
                while self._unshipped or self._left:
                    self._shipper.wake()
                    await asyncio.sleep(0.02)
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks)
        await self._spool.aclose()
        if not (self._unshipped or self._open_starts):
            self._spool.folder.remove()
        for source in self._left:
            source.folder.release()
        await self._postgres.aclose()

    async def _write(self, record: CheckRecord) -> None:
        try:
            appended = await self._spool.append_durably(FrameKind.RECORD, to_json_bytes(record))
        except SpoolFailed as error:
            self._owe(record)
            raise StoreUnavailable(f"the record of check {record.id} cannot be kept: {error}; make room") from error
        self._keep(record, appended)

    def _keep(self, record: CheckRecord, appended: Appended) -> None:
        size = appended.end.offset - appended.position.offset
        self._unshipped.add(record, self._spool.folder, appended.position, size)
        self._open_starts.pop(record.id, None)
        self._shipper.wake()

    def _owe(self, record: CheckRecord) -> None:
        self._owed.append(record)
        if len(self._owed) > OWED_RECORDS:
            self._lost += 1
            lost = self._owed.popleft()
            logger.error("record.lost", extra={"check_id": str(lost.id)})

    async def _pay_owed(self) -> None:
        """Nobody waits for these any more, but their checks did end as they say."""
        while True:
            await asyncio.sleep(OWED_SECONDS)
            while self._owed:
                record = self._owed[0]
                try:
                    appended = await self._spool.append_durably(FrameKind.RECORD, to_json_bytes(record))
                except SpoolFailed:
                    break
                self._keep(record, appended)
                self._owed.popleft()

    async def _watch_database(self) -> None:
        while True:
            try:
                await self._postgres.ping()
                self._database_problem = ""
            except StoreUnavailable as error:
                self._database_problem = str(error)
            await asyncio.sleep(WATCH_SECONDS)

    async def _ship(self) -> None:
        for source in tuple(self._left):
            await self._shipper.ship(source)
            await asyncio.to_thread(leave, source.boot, source.folder, self._root, self._damaged[source.boot])
            self._left.remove(source)
        live = Source(
            self._spool.boot,
            self._spool.folder,
            BEGINNING,
            end=lambda: self._spool.end,
            first_needed_segment=lambda: min(self._open_starts.values(), default=self._spool.end.segment),
        )
        self._shipper.wake()
        await self._shipper.keep_shipping(live)

    def _adopt(self) -> list[CheckRecord]:
        """Records of dead processes wait here for shipping; returns what is to be kept of checks they did not end."""
        started: dict[UUID, CheckRecord] = {}
        ended: set[UUID] = set()
        for boot, folder in adopt_left_folders(self._root):
            checkpoint = folder.checkpoint()
            for frame, position, after in folder.frames(BEGINNING):
                record = _decoded(frame)
                if record is None:
                    continue
                if frame.kind is FrameKind.STARTED:
                    started[record.id] = record
                    continue
                # The end may stand in a later process's folder: one that died while it kept what this one left open.
                ended.add(record.id)
                if position >= checkpoint:
                    self._unshipped.add(record, folder, position, after.offset - position.offset)
            self._note_damage(boot, folder)
            self._left.append(Source(boot, folder, checkpoint, end=lambda: None, first_needed_segment=lambda: 0))
        return [record for record in started.values() if record.id not in ended]

    def _note_damage(self, boot: UUID, folder: SpoolFolder) -> None:
        self._damaged[boot] = folder.damaged_segments()
        damaged = sum(self._damaged[boot].values())
        found = {"boot": str(boot), "damaged_bytes": damaged}
        logger.log(logging.ERROR if damaged else logging.WARNING, "spool.adopted", extra=found)

    def _shipped(self, frames: Sequence[Frame]) -> None:
        for frame in frames:
            record = _decoded(frame)
            if record is not None:
                self._unshipped.remove(record.id)

    def _quarantined(self, frame: Frame) -> None:
        self._lost += 1


def _decoded(frame: Frame) -> CheckRecord | None:
    """None for what is no record to this version: the database takes it apart by itself, or it is quarantined."""
    try:
        return from_json_bytes(frame.payload)
    except ValueError:
        logger.error("spool.record_unknown", extra={"sequence": frame.sequence})
        return None
