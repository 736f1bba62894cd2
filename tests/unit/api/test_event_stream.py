"""The stream itself: it stays open, it ends with what happened, it lets nobody hold it up."""

import asyncio
from typing import Any
from uuid import uuid4

import pytest
from starlette.types import Message

from app.api import event_stream
from app.api.event_stream import CheckEvents, EventStream
from app.errors import CallFailed


async def never() -> Message:
    await asyncio.Event().wait()
    raise AssertionError


class Client:
    """What an ASGI server is told."""

    def __init__(self) -> None:
        self.messages: list[Message] = []

    async def send(self, message: Message) -> None:
        self.messages.append(message)

    @property
    def text(self) -> str:
        return b"".join(message.get("body", b"") for message in self.messages).decode()


def stream(work: Any, heartbeat_seconds: float = 60) -> tuple[EventStream, CheckEvents]:
    events = CheckEvents()
    task = asyncio.create_task(work)
    task.add_done_callback(lambda _: events.wake())
    return EventStream("r-1", uuid4(), task, events, heartbeat_seconds), events


async def fails(error: Exception) -> None:
    raise error


async def test_a_connection_on_which_nothing_happens_is_kept_open_by_comments() -> None:
    client = Client()

    async def waits() -> None:
        while client.text.count(": still working\n\n") < 3:
            await asyncio.sleep(0)
        raise CallFailed("in the end")

    response, _ = stream(waits(), heartbeat_seconds=0.001)
    await response({"type": "http"}, never, client.send)

    assert client.text.count(": still working\n\n") >= 3
    assert "event: error" in client.text


async def test_an_error_is_told_as_a_problem_with_its_waiting_time() -> None:
    client = Client()
    response, _ = stream(fails(CallFailed("the model gave nothing")))

    await response({"type": "http"}, never, client.send)

    assert "event: error" in client.text
    assert '"status":502' in client.text and '"retry_after_seconds":5' in client.text
    assert client.messages[-1] == {"type": "http.response.body", "body": b""}


async def test_an_unexpected_error_is_told_without_its_words_and_raised_for_the_log() -> None:
    client = Client()
    response, _ = stream(fails(KeyError("I am 34")))

    with pytest.raises(KeyError):
        await response({"type": "http"}, never, client.send)

    assert '"status":500' in client.text
    assert "I am 34" not in client.text


async def test_a_client_that_leaves_cancels_the_check() -> None:
    was_cancelled = asyncio.Event()

    async def works() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            was_cancelled.set()
            raise

    async def leaves() -> Message:
        await asyncio.sleep(0.01)
        return {"type": "http.disconnect"}

    response, _ = stream(works())
    await response({"type": "http"}, leaves, Client().send)

    assert was_cancelled.is_set()


async def test_a_client_that_reads_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "SEND_SECONDS", 0.01)
    response, events = stream(asyncio.Event().wait())

    async def blocks(message: Message) -> None:
        if message["type"] == "http.response.body":
            await asyncio.Event().wait()

    events.narrated("Thank you.", False)
    await response({"type": "http"}, never, blocks)
