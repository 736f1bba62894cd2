"""The writer: frames are appended by one thread, with one fdatasync for all that wait for it."""

import asyncio
import contextlib
import logging
import os
import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import UUID

from uuid6 import uuid7

from app.store.spool.folder import SEGMENT_HEADER, SEGMENT_START, Position, SpoolFolder, sync_folder
from app.store.spool.frames import MAX_PAYLOAD_BYTES, Frame, FrameKind, encode

logger = logging.getLogger(__name__)

MAX_GROUP_BYTES = 4 * 1024 * 1024
"""Written and synced at once."""

NEW_SEGMENT_SECONDS = 1.0
"""After a failed write a new segment is tried this often; appends in between are refused at once."""


@dataclass(frozen=True)
class SpoolLimits:
    segment_bytes: int = 16 * 1024 * 1024
    """Taken from the disk at once: a full disk shows when a segment begins, not in the middle of a record."""
    max_bytes: int = 1024 * 1024 * 1024
    """Of records that are not in the database yet."""


@dataclass(frozen=True)
class Appended:
    """Where a frame stands."""

    frame: Frame
    position: Position
    end: Position


class SpoolFailed(Exception):
    """The frame is not durable: the disk is full or failing. The message says which."""


@dataclass
class _Waiting:
    frame: Frame
    settled: "asyncio.Future[Appended] | None"
    """None for a frame that nobody waits for: it is written with the next group and not synced for its own sake."""


@dataclass
class _Turn:
    """A new segment is wanted."""

    settled: "asyncio.Future[None]"


_END = None


class Spool:
    """The live spool of this process, in a folder of its own under `root`. Raises OSError if that cannot be made.

    The same event loop must make all calls. What is acknowledged survives the death of the process and of the machine;
    what is only written survives the death of the process.
    """

    def __init__(self, root: Path, limits: SpoolLimits | None = None) -> None:
        self.limits = limits or SpoolLimits()
        self.boot: UUID = uuid7()
        self.written = 0
        """Records acknowledged."""
        path = root / self.boot.hex
        path.mkdir(mode=0o700, parents=True)
        sync_folder(root)
        self.folder = SpoolFolder(path)
        self._loop = asyncio.get_running_loop()
        self._queue: queue.SimpleQueue[_Waiting | _Turn | None] = queue.SimpleQueue()
        self._segment: int | None = None
        self._number = 0
        self._offset = 0
        self._sequence = 0
        self._try_again = 0.0
        self._reason = ""
        self._end = Position(1, SEGMENT_START)
        self._new_segment()
        self._thread = threading.Thread(target=self._write_groups, name="spool-writer", daemon=True)
        self._thread.start()

    @property
    def end(self) -> Position:
        """Behind the last frame that may be shipped."""
        return self._end

    @property
    def is_writable(self) -> bool:
        return self._segment is not None or time.monotonic() >= self._try_again

    @property
    def reason(self) -> str:
        """Why it is not writable; empty while it is."""
        return self._reason

    def append(self, kind: FrameKind, payload: bytes) -> None:
        """Write soon. Nobody learns if it fails: for what a failing disk may lose."""
        self._queue.put(_Waiting(Frame(kind, 0, payload), None))

    async def append_durably(self, kind: FrameKind, payload: bytes) -> Appended:
        """Returns when the frame is on disk. Raises SpoolFailed; the frame may then still turn up after a crash."""
        if len(payload) > MAX_PAYLOAD_BYTES:
            raise SpoolFailed(f"a record of {len(payload)} bytes exceeds the limit of {MAX_PAYLOAD_BYTES}")
        settled: asyncio.Future[Appended] = self._loop.create_future()
        self._queue.put(_Waiting(Frame(kind, 0, payload), settled))
        return await settled

    async def begin_new_segment(self) -> None:
        """Everything appended so far then stands in segments that can be removed once shipped. Raises SpoolFailed."""
        settled: asyncio.Future[None] = self._loop.create_future()
        self._queue.put(_Turn(settled))
        await settled

    async def aclose(self) -> None:
        """What was appended before is written. The folder stays held: release or remove it."""
        self._queue.put(_END)
        await asyncio.to_thread(self._thread.join)

    def _write_groups(self) -> None:
        while True:
            group, then = self._next_group()
            if group:
                self._call(self._tell, group, *self._commit(group))
            if isinstance(then, _Turn):
                self._call(self._tell_turn, then, self._turn())
            elif then is _END:
                self._end_segment()
                return

    def _next_group(self) -> tuple[list[_Waiting], "_Waiting | _Turn | None"]:
        """Everything that waits, and the last thing taken from the queue."""
        group: list[_Waiting] = []
        size = 0
        taken = self._queue.get()
        while isinstance(taken, _Waiting):
            group.append(taken)
            size += len(taken.frame.payload)
            if size >= MAX_GROUP_BYTES:
                break
            try:
                taken = self._queue.get_nowait()
            except queue.Empty:
                break
        return group, taken

    def _commit(self, group: Sequence[_Waiting]) -> tuple[list[Appended], str]:
        """The group on disk, or nothing of it and why not."""
        try:
            appended, data = self._placed(group)
            self._write(data)
            if any(waiting.settled is not None for waiting in group):
                os.fdatasync(self._descriptor())
        except OSError as error:
            self._give_up_segment(error)
            return [], self._reason
        self._offset += len(data)
        self._sequence = max(self._sequence, *(one.frame.sequence for one in appended))
        self._end = Position(self._number, self._offset)
        return appended, ""

    def _placed(self, group: Sequence[_Waiting]) -> tuple[list[Appended], bytes]:
        sequence = self._sequence
        encoded: list[tuple[Frame, bytes]] = []
        for waiting in group:
            frame = waiting.frame
            if frame.kind is FrameKind.RECORD:
                sequence += 1
                frame = replace(frame, sequence=sequence)
            encoded.append((frame, encode(frame)))
        self._ensure_room(sum(len(data) for _, data in encoded))
        appended: list[Appended] = []
        offset = self._offset
        for frame, data in encoded:
            after = offset + len(data)
            appended.append(Appended(frame, Position(self._number, offset), Position(self._number, after)))
            offset = after
        return appended, b"".join(data for _, data in encoded)

    def _ensure_room(self, size: int) -> None:
        if self._segment is None and time.monotonic() < self._try_again:
            raise OSError(0, self._reason)
        full = self._offset + size > self.limits.segment_bytes and self._offset > SEGMENT_START
        if self._segment is None or full:
            self._end_segment()
            self._new_segment(max(size + SEGMENT_START, self.limits.segment_bytes))

    def _turn(self) -> str:
        """Why there is no new segment; empty if there is one."""
        try:
            if self._segment is None or self._offset > SEGMENT_START:
                self._end_segment()
                self._new_segment()
        except OSError as error:
            self._give_up_segment(error)
            return self._reason
        return ""

    def _write(self, data: bytes) -> None:
        """The disk may take less than it is given without saying so."""
        view, offset = memoryview(data), self._offset
        while view:
            taken = os.pwrite(self._descriptor(), view, offset)
            view, offset = view[taken:], offset + taken

    def _new_segment(self, size: int | None = None) -> None:
        path = self.folder.segment_path(self._number + 1)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.posix_fallocate(descriptor, 0, size or self.limits.segment_bytes)
            os.pwrite(descriptor, SEGMENT_HEADER, 0)
            os.fsync(descriptor)
            sync_folder(self.folder.path)
        except OSError:
            os.close(descriptor)
            path.unlink(missing_ok=True)
            raise
        self._segment, self._number, self._offset, self._reason = descriptor, self._number + 1, SEGMENT_START, ""
        self._end = Position(self._number, self._offset)

    def _end_segment(self) -> None:
        """Give back what it did not need."""
        if self._segment is None:
            return
        with contextlib.suppress(OSError):
            os.ftruncate(self._segment, self._offset)
            os.fsync(self._segment)
        os.close(self._segment)
        self._segment = None

    def _give_up_segment(self, error: OSError) -> None:
        """After a failed write or sync nothing more is asked of this file: what is committed in it stays."""
        reason = error.strerror or str(error)
        if self._segment is not None or not self._reason:
            logger.error("spool.write_failed", extra={"reason": reason, "segment": self._number})
        if self._segment is not None or time.monotonic() >= self._try_again:
            self._try_again = time.monotonic() + NEW_SEGMENT_SECONDS
        self._reason = reason
        self._end_segment()

    def _descriptor(self) -> int:
        assert self._segment is not None
        return self._segment

    def _call(self, tell: Callable[..., None], *arguments: object) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(tell, *arguments)

    def _tell_turn(self, turn: _Turn, reason: str) -> None:
        if not turn.settled.done():
            turn.settled.set_exception(SpoolFailed(reason)) if reason else turn.settled.set_result(None)

    def _tell(self, group: Sequence[_Waiting], appended: Sequence[Appended], reason: str) -> None:
        for position, waiting in enumerate(group):
            self.written += bool(appended) and waiting.frame.kind is FrameKind.RECORD
            if waiting.settled is None or waiting.settled.done():
                continue
            if reason:
                waiting.settled.set_exception(SpoolFailed(reason))
            else:
                waiting.settled.set_result(appended[position])
