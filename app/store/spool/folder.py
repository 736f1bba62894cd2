"""The segments and the checkpoint of one process's spool, on disk."""

import contextlib
import fcntl
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from app.store.spool.frames import HEADER, Frame, payload_bytes, scan

MAGIC = b"booking-spool\x00"
FORMAT_VERSION = 1
SEGMENT_HEADER = MAGIC + FORMAT_VERSION.to_bytes(2, "little")
SEGMENT_START = len(SEGMENT_HEADER)

_SEGMENT_NAME = re.compile(r"(\d{8})\.seg")
_CHECKPOINT = "checkpoint"
_LOCK = "lock"


@dataclass(frozen=True, order=True)
class Position:
    """A place between frames."""

    segment: int
    offset: int


BEGINNING = Position(0, 0)


class FolderTaken(Exception):
    """Its process lives."""


class SpoolFolder:
    """One process's folder, held by an flock for as long as this object is open. Raises FolderTaken."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: int | None = os.open(path / _LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.release()
            raise FolderTaken(str(path)) from None

    def release(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def segment_path(self, number: int) -> Path:
        return self.path / f"{number:08}.seg"

    def segments(self) -> list[int]:
        """Their numbers, oldest first."""
        names = (_SEGMENT_NAME.fullmatch(entry.name) for entry in self.path.iterdir())
        return sorted(int(name[1]) for name in names if name)

    def frames(self, start: Position, end: Position | None = None) -> Iterator[tuple[Frame, Position, Position]]:
        """Whole frames between two positions, each with its own and the next one's position.

        Without `end`, to the end of each segment. Segments of another format version are left alone.
        """
        for number in self.segments():
            if number < start.segment or (end is not None and number > end.segment):
                continue
            first = max(start.offset if number == start.segment else 0, SEGMENT_START)
            last = end.offset if end is not None and number == end.segment else None
            for frame, offset, after in scan(self._read(number, first, last)):
                yield frame, Position(number, first + offset), Position(number, first + after)

    def frame_at(self, position: Position) -> Frame | None:
        """None if it is gone: shipped and removed."""
        try:
            with self.segment_path(position.segment).open("rb") as file:
                file.seek(position.offset)
                header = file.read(HEADER.size)
                data = header + file.read(payload_bytes(header))
        except FileNotFoundError:
            return None
        return next((frame for frame, offset, _ in scan(data) if offset == 0), None)

    def checkpoint(self) -> Position:
        """Everything before it is in the database."""
        try:
            stored = json.loads((self.path / _CHECKPOINT).read_bytes())
            return Position(int(stored["segment"]), int(stored["offset"]))
        except (OSError, ValueError, KeyError, TypeError):
            return BEGINNING  # shipping again changes nothing

    def keep_checkpoint(self, position: Position) -> None:
        """Durable when it returns. Raises OSError; the old one then still stands."""
        new = self.path / f"{_CHECKPOINT}.new"
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            os.write(descriptor, json.dumps({"segment": position.segment, "offset": position.offset}).encode())
            os.fdatasync(descriptor)
        finally:
            os.close(descriptor)
        new.replace(self.path / _CHECKPOINT)
        sync_folder(self.path)

    def remove_segments_before(self, number: int) -> None:
        for old in self.segments():
            if old < number:
                self.segment_path(old).unlink(missing_ok=True)

    def remove(self) -> None:
        """The whole folder; what is not ours in it stays, and so does the folder then."""
        self.remove_segments_before(self.segments()[-1] + 1 if self.segments() else 0)
        for name in (_CHECKPOINT, f"{_CHECKPOINT}.new", _LOCK):
            (self.path / name).unlink(missing_ok=True)
        self.release()
        with contextlib.suppress(OSError):
            self.path.rmdir()

    def unreadable_segments(self) -> list[int]:
        """Of a format version that this code does not know: they wait for a version that does."""
        return [number for number in self.segments() if not self._is_readable(number)]

    def damaged_segments(self) -> dict[int, int]:
        """Bytes between whole frames by segment. A torn last frame does not count: nobody was told that it is kept."""
        damaged: dict[int, int] = {}
        for number in self.segments():
            end = 0
            for _, offset, after in scan(self._read(number, SEGMENT_START, None)):
                damaged[number] = damaged.get(number, 0) + offset - end
                end = after
        return {number: size for number, size in damaged.items() if size}

    def move_segment(self, number: int, to: Path) -> None:
        to.parent.mkdir(mode=0o700, exist_ok=True)
        self.segment_path(number).replace(to)

    def _is_readable(self, number: int) -> bool:
        with self.segment_path(number).open("rb") as file:
            head = file.read(SEGMENT_START)
        return head in (SEGMENT_HEADER, b"") or not head.strip(b"\x00")

    def _read(self, number: int, first: int, last: int | None) -> bytes:
        with self.segment_path(number).open("rb") as file:
            if file.read(SEGMENT_START) != SEGMENT_HEADER:
                return b""
            file.seek(first)
            return file.read() if last is None else file.read(max(0, last - first))


def sync_folder(path: Path) -> None:
    """Make the names in a folder durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
