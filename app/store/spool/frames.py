"""A frame: one entry of a spool behind its length and checksum, so that a torn one is never taken for whole."""

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

MARK = b"\xb5Frm"
"""Begins every frame: behind damage, the next one is found by it."""

HEADER = struct.Struct("<4sIIBQ")
"""The mark, length of the payload in bytes, crc32 of all that follows it, kind, sequence number."""

MAX_PAYLOAD_BYTES = 4 * 1024 * 1024
"""A longer length is not a frame. A conversation of 8,000 characters with its calls is under 200 kB."""

_AFTER_CHECKSUM = struct.calcsize("<4sII")


class FrameKind(IntEnum):
    STARTED = 1
    """What is to be kept of a check if the process dies before its end."""
    RECORD = 2
    """How a check ended; at most one for each check."""


@dataclass(frozen=True)
class Frame:
    kind: FrameKind
    sequence: int
    """Dense from 1 over the records of one process; 0 for other kinds."""
    payload: bytes


def encode(frame: Frame) -> bytes:
    rest = HEADER.pack(MARK, 0, 0, frame.kind, frame.sequence)[_AFTER_CHECKSUM:]
    checksum = zlib.crc32(frame.payload, zlib.crc32(rest))
    return HEADER.pack(MARK, len(frame.payload), checksum, frame.kind, frame.sequence) + frame.payload


def payload_bytes(header: bytes) -> int:
    """What follows a header; 0 if it is no whole header of a frame."""
    if len(header) < HEADER.size:
        return 0
    length: int = HEADER.unpack(header)[1]
    return length if length <= MAX_PAYLOAD_BYTES else 0


def scan(data: bytes) -> Iterator[tuple[Frame, int, int]]:
    """Every whole frame, with its first offset and the one behind it. What lies between whole frames is damage."""
    offset = 0
    while (offset := data.find(MARK, offset)) >= 0:
        found = _frame_at(data, offset)
        end = offset + HEADER.size + len(found.payload) if found else offset + 1
        if found:
            yield found, offset, end
        offset = end


def _frame_at(data: bytes, offset: int) -> Frame | None:
    body = offset + HEADER.size
    length = payload_bytes(data[offset:body])
    if length == 0 or body + length > len(data):
        return None
    _, _, checksum, kind, sequence = HEADER.unpack_from(data, offset)
    covered = memoryview(data)[offset + _AFTER_CHECKSUM : body + length]
    if zlib.crc32(covered) != checksum or kind not in _KINDS:
        return None
    return Frame(FrameKind(kind), sequence, data[body : body + length])


_KINDS = frozenset(FrameKind)
