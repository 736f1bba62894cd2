"""A check as server-sent events: facts and decision once they are kept, the reply as it is written, then the whole."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from uuid import UUID

from fastapi import Request, Response
from pydantic import BaseModel
from starlette.types import Receive, Scope, Send

from app.api.answers import check_out, decision_event, facts_event
from app.api.connection import ClientGone, while_connected
from app.api.handlers import service_refusal
from app.api.openapi import EVENT_STREAM
from app.api.problems import INTERNAL, refusal
from app.api.schemas import NarrationEvent
from app.errors import ServiceError
from app.pipeline.checks import CheckAnswer, Checks
from app.pipeline.request import CheckRequest
from app.store.records import CheckRecord

HEARTBEAT_SECONDS = 15.0
"""Proxies take a connection for dead after 30 to 60 seconds without a byte."""

SEND_SECONDS = 30.0
"""A client that takes nothing for so long has stopped reading."""


@dataclass(frozen=True)
class Event:
    name: str
    data: BaseModel


class CheckEvents:
    """Listens to one check. What it holds is bounded by the length of a reply."""

    def __init__(self) -> None:
        self._events: asyncio.Queue[Event | None] = asyncio.Queue()
        self.has_begun = False
        self.is_first_known = True
        self.has_decision = False

    def begun(self, *, is_first_known: bool) -> None:
        self.has_begun, self.is_first_known = True, is_first_known
        self._events.put_nowait(None)

    def decided(self, record: CheckRecord) -> None:
        self.has_decision = True
        self._events.put_nowait(Event("facts", facts_event(record)))
        self._events.put_nowait(Event("decision", decision_event(record)))

    def narrated(self, text: str, replaces: bool) -> None:
        self._events.put_nowait(Event("narration", NarrationEvent(text=text, replaces=replaces)))

    def wake(self) -> None:
        """Whoever waits for the next event looks whether there is still something to wait for."""
        self._events.put_nowait(None)

    async def next(self) -> Event | None:
        """None is no event: look again at the check itself."""
        return await self._events.get()

    def is_empty(self) -> bool:
        return self._events.empty()


def wants_events(http: Request) -> bool:
    """Who names JSON as well gets JSON."""
    named = {part.split(";")[0].strip().lower() for part in http.headers.get("accept", "").split(",")}
    return EVENT_STREAM in named and "application/json" not in named


async def stream_check(
    http: Request, checks: Checks, request: CheckRequest, heartbeat_seconds: float = HEARTBEAT_SECONDS
) -> "EventStream":
    """Returns once the check has begun. Until then it raises what a check raises, so that a refusal has its status."""
    events = CheckEvents()
    work = asyncio.create_task(checks.check(request, events))
    work.add_done_callback(lambda _: events.wake())
    try:
        await while_connected(http.receive, events.next())
    except BaseException:
        await _cancelled(work)
        raise
    if work.done() and not events.has_begun:
        return EventStream(http.state.request_id, request.id, work, events, heartbeat_seconds, work.result())
    return EventStream(http.state.request_id, request.id, work, events, heartbeat_seconds)


async def _cancelled(work: asyncio.Task[CheckAnswer]) -> None:
    work.cancel()
    await asyncio.wait({work})
    if not work.cancelled():
        work.exception()  # nobody is left to hear it; the record has it


class EventStream(Response):
    """Headers, events, end; a client that leaves or stops reading cancels the check."""

    def __init__(
        self,
        request_id: str,
        check_id: UUID,
        work: asyncio.Task[CheckAnswer],
        events: CheckEvents,
        heartbeat_seconds: float,
        replayed: CheckAnswer | None = None,
    ) -> None:
        super().__init__(media_type=EVENT_STREAM)
        del self.headers["content-length"]
        self.headers["X-Accel-Buffering"] = "no"  # nginx would collect the events
        self.is_replay = replayed is not None
        self.is_first_known = events.is_first_known
        self._check_id = replayed.record.id if replayed else check_id
        self._request_id = request_id
        self._work = work
        self._events = events
        self._heartbeat_seconds = heartbeat_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await while_connected(receive, self._sent(send))
        except (ClientGone, TimeoutError):
            pass  # the check is cancelled and its record says so
        finally:
            await _cancelled(self._work)

    async def _sent(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        async for text in self._texts():
            async with asyncio.timeout(SEND_SECONDS):
                await send({"type": "http.response.body", "body": text.encode(), "more_body": True})
        await send({"type": "http.response.body", "body": b""})
        if not isinstance(error := self._work.exception(), ServiceError | None):
            raise error  # the outermost layer logs what nobody expected

    async def _texts(self) -> AsyncIterator[str]:
        number = 0
        while not (self._work.done() and self._events.is_empty()):
            try:
                async with asyncio.timeout(self._heartbeat_seconds):
                    event = await self._events.next()
            except TimeoutError:
                yield ": still working\n\n"
                continue
            if event is not None:
                number += 1
                yield self._event(number, event.name, event.data.model_dump_json())
        for name, data in self._ending():
            number += 1
            yield self._event(number, name, data)

    def _event(self, number: int, name: str, data: str) -> str:
        return f"id: {self._check_id}/{number}\nevent: {name}\ndata: {data}\n\n"

    def _ending(self) -> list[tuple[str, str]]:
        error = self._work.exception()
        if isinstance(error, ServiceError):
            return [("error", bytes(service_refusal(error, self._request_id).body).decode())]
        if error is not None:
            detail = "an unexpected error; the request id leads to it in the log"
            return [("error", bytes(refusal(INTERNAL, detail, self._request_id).body).decode())]
        record = self._work.result().record
        events = [] if self._events.has_decision else _told_at_the_end(record)
        return [(event.name, event.data.model_dump_json()) for event in [*events, Event("done", check_out(record))]]


def _told_at_the_end(record: CheckRecord) -> list[Event]:
    """Of an earlier check, and of designs in which the model decides: nothing of theirs is known to hold before."""
    return [
        Event("facts", facts_event(record)),
        Event("decision", decision_event(record)),
        Event("narration", NarrationEvent(text=record.response_text or "", replaces=False)),
    ]
