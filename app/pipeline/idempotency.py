"""A retried check gets the reply of the first: by the caller's key, for a day, also across restarts."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from app.errors import CheckInFlight, ContentErased, KeyReused
from app.pipeline.request import CheckRequest, IdempotencyKey
from app.store.call_log import CallLog
from app.store.records import CheckRecord
from app.telemetry.clock import utc_now

REMEMBERED = timedelta(hours=24)


class Retries:
    """Checks in flight are known to this process, answered ones to every process that shares the database."""

    def __init__(self, call_log: CallLog) -> None:
        self._call_log = call_log
        self._in_flight: dict[tuple[str, str], str] = {}

    @contextmanager
    def claimed(self, request: CheckRequest) -> Iterator[None]:
        """Nobody else works on this key meanwhile. Raises CheckInFlight, KeyReused."""
        key = request.idempotency
        if key is None:
            yield
            return
        claim = (request.caller, key.digest)
        if claim in self._in_flight:
            _require_same(key, self._in_flight[claim])
            raise CheckInFlight("a check with this Idempotency-Key is being worked on; ask again when it has ended")
        self._in_flight[claim] = key.fingerprint
        try:
            yield
        finally:
            del self._in_flight[claim]

    async def earlier(self, request: CheckRequest) -> CheckRecord | None:
        """The check that was answered under this key. Raises KeyReused, ContentErased, StoreUnavailable."""
        key = request.idempotency
        if key is None:
            return None
        record = await self._call_log.read_answered(request.caller, key.digest, utc_now() - REMEMBERED)
        if record is None:
            return None
        _require_same(key, record.fingerprint)
        if record.response_text is None:
            raise ContentErased(f"check {record.id} was answered under this key, and its content has been erased")
        return record


def _require_same(key: IdempotencyKey, fingerprint: str | None) -> None:
    if fingerprint != key.fingerprint:
        raise KeyReused("this Idempotency-Key was used for another request; take a new key for a new request")
