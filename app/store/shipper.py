"""Moves records from spools to Postgres: in order, until they are there, and out of the way of checks."""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from app.errors import StoreUnavailable
from app.store.postgres import Postgres, RecordsRefused
from app.store.rows import Entry
from app.store.spool import Frame, FrameKind, Position, SpoolFolder

logger = logging.getLogger(__name__)

BATCH_RECORDS = 200
BATCH_BYTES = 1024 * 1024

LINGER_SECONDS = 0.1
"""Records that come within this time travel together."""

RETRY_SECONDS = (0.2, 0.5, 1.0, 2.0)
"""Between attempts while the database is away; the last again and again."""

CHECKPOINT_SECONDS = 1.0
"""What is shipped since the last checkpoint is shipped again after a crash, and changes nothing."""


@dataclass
class Source:
    """A process's spool, and how far it is shipped."""

    boot: UUID
    folder: SpoolFolder
    shipped: Position
    end: Callable[[], Position | None]
    """Behind the last frame that may be shipped; None for a dead process's spool: everything."""
    first_needed_segment: Callable[[], int]
    """Holds the start of a check that has not ended: it and later ones stay."""


class Shipper:
    """`on_shipped` hears the ids that are in the database now, `on_quarantined` those that it will never take."""

    def __init__(
        self,
        postgres: Postgres,
        quarantine: Callable[[UUID, Frame, str], None],
        on_shipped: Callable[[Sequence[Frame]], None],
        on_quarantined: Callable[[Frame], None],
    ) -> None:
        self.shipped = 0
        self._is_reaching_the_database = True
        self._postgres = postgres
        self._quarantine = quarantine
        self._on_shipped = on_shipped
        self._on_quarantined = on_quarantined
        self._wake = asyncio.Event()
        self._checkpoint_at = 0.0

    def wake(self) -> None:
        """There is something to ship."""
        self._wake.set()

    async def ship(self, source: Source) -> None:
        """Everything that there is now, however long the database is away."""
        while await self._tried(source):
            pass

    async def keep_shipping(self, source: Source) -> None:
        """Everything that there will be."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            await asyncio.sleep(LINGER_SECONDS)
            await self.ship(source)

    async def _tried(self, source: Source) -> bool:
        """Ships a batch, however long the database is away. False when there was nothing left."""
        attempts = 0
        while True:
            started = time.monotonic()
            try:
                more = await self._ship_batch(source)
            except (StoreUnavailable, OSError) as error:
                if self._is_reaching_the_database:
                    logger.warning("spool.not_shipping", extra={"reason": str(error)})
                self._is_reaching_the_database = False
                await asyncio.sleep(RETRY_SECONDS[min(attempts, len(RETRY_SECONDS) - 1)])
                attempts += 1
                continue
            if not self._is_reaching_the_database:
                logger.info("spool.shipping_again")
            self._is_reaching_the_database = True
            if more:
                # A backlog drains in half the time at most, so that it never crowds out the checks.
                await asyncio.sleep(time.monotonic() - started)
            return more

    async def _ship_batch(self, source: Source) -> bool:
        frames, after = _batch(source)
        records = [frame for frame in frames if frame.kind is FrameKind.RECORD]
        if records:
            await self._insert(source.boot, records)
            self.shipped += len(records)
            self._on_shipped(records)
        source.shipped = after
        await self._tidy(source, is_batch=bool(frames))
        return bool(frames)

    async def _insert(self, boot: UUID, records: Sequence[Frame]) -> None:
        """Records that the database refuses are set aside one by one: they must not hold up the others."""
        try:
            await self._postgres.insert([Entry(frame.payload, boot, frame.sequence) for frame in records])
        except RecordsRefused as error:
            if len(records) == 1:
                self._quarantine(boot, records[0], str(error))
                self._on_quarantined(records[0])
                return
            middle = len(records) // 2
            await self._insert(boot, records[:middle])
            await self._insert(boot, records[middle:])

    async def _tidy(self, source: Source, *, is_batch: bool) -> None:
        """The checkpoint is on disk before a segment goes. In a thread: a sync can take long beside a busy database."""
        removable = min(source.shipped.segment, source.first_needed_segment())
        oldest = next(iter(source.folder.segments()), removable)
        if oldest >= removable and (not is_batch or time.monotonic() < self._checkpoint_at):
            return
        self._checkpoint_at = time.monotonic() + CHECKPOINT_SECONDS
        await asyncio.to_thread(_checkpointed, source.folder, source.shipped, removable)


def _checkpointed(folder: SpoolFolder, shipped: Position, removable: int) -> None:
    folder.keep_checkpoint(shipped)
    folder.remove_segments_before(removable)


def _batch(source: Source) -> tuple[list[Frame], Position]:
    """The next frames, and the position behind them."""
    end, after = source.end(), source.shipped
    frames: list[Frame] = []
    size = 0
    for frame, _, after in source.folder.frames(source.shipped, end):
        frames.append(frame)
        size += len(frame.payload)
        if size >= BATCH_BYTES or len(frames) >= BATCH_RECORDS:
            return frames, after
    return frames, end or after
