"""What is in the spool and not yet in the database: found again by id and by idempotency key."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from app.store.record_json import from_json_bytes
from app.store.records import ANSWERED, CheckRecord
from app.store.spool import Position, SpoolFolder


@dataclass(frozen=True)
class _Place:
    folder: SpoolFolder
    position: Position
    size_bytes: int
    since: float
    key: tuple[str, str] | None


class Unshipped:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._places: dict[UUID, _Place] = {}
        self._by_key: dict[tuple[str, str], UUID] = {}
        self.size_bytes = 0

    def __len__(self) -> int:
        return len(self._places)

    @property
    def oldest_seconds(self) -> float:
        """Age of the oldest; 0 when there is none."""
        oldest = next(iter(self._places.values()), None)
        return self._clock() - oldest.since if oldest else 0.0

    def add(self, record: CheckRecord, folder: SpoolFolder, position: Position, size_bytes: int) -> None:
        answered = record.idempotency_key is not None and record.outcome in ANSWERED
        key = (record.caller, record.idempotency_key) if record.idempotency_key is not None and answered else None
        self.remove(record.id)
        self._places[record.id] = _Place(folder, position, size_bytes, self._clock(), key)
        self.size_bytes += size_bytes
        if key is not None:
            self._by_key[key] = record.id

    def remove(self, check_id: UUID) -> None:
        """Nothing happens if it is not there."""
        place = self._places.pop(check_id, None)
        if place is None:
            return
        self.size_bytes -= place.size_bytes
        if place.key is not None and self._by_key.get(place.key) == check_id:
            del self._by_key[place.key]

    def read(self, check_id: UUID) -> CheckRecord | None:
        """None if it is not here, or no longer: then the database has it."""
        place = self._places.get(check_id)
        frame = place.folder.frame_at(place.position) if place else None
        return from_json_bytes(frame.payload) if frame else None

    def read_answered(self, caller: str, key: str) -> CheckRecord | None:
        check_id = self._by_key.get((caller, key))
        return self.read(check_id) if check_id is not None else None
