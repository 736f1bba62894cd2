"""A check as a stream of events: the same check, the same record, the same refusals."""

from typing import Any
from uuid import UUID

import httpx
import pytest

from app.errors import CallFailed
from app.llm.engine import Generation
from tests.integration.clinic import Clinic, Open
from tests.support.events import Event, events, shown
from tests.support.replies import BOOKING, pipeline

STREAM = {"Accept": "text/event-stream"}
WORDS = "Thank you. You are booked for 8 December 2026 at 10:00. We look forward to seeing you."


async def streamed(clinic: Clinic, headers: dict[str, str] | None = None, **body: Any) -> list[Event]:
    answer = await clinic.check(headers=STREAM | (headers or {}), **body)
    assert answer.status_code == 200 and answer.headers["content-type"] == "text/event-stream; charset=utf-8"
    return list(events(answer.text.splitlines()))


async def test_facts_then_decision_then_words_then_all_of_it(open_clinic: Open) -> None:
    async with open_clinic(pipeline(narration=WORDS)) as clinic:
        received = await streamed(clinic)
        done = received[-1].data
        stored = (await clinic.client.get(f"/consultations/{done['id']}")).json()

    names = [event.name for event in received]
    assert names == ["facts", "decision", *["narration"] * 3, "done"]
    assert [event.id for event in received] == [f"{done['id']}/{n}" for n in range(1, 7)]
    facts, decision = received[0].data, received[1].data
    assert facts["facts"] == done["facts"] and facts["facts"]["customer_age"]["evidence"][0]["text"] == "I am 34"
    assert {name: done[name] for name in decision} == decision
    assert decision["action"] == "book_appointment" and decision["id"] == done["id"]
    assert shown(received) == done["response_text"] == WORDS
    assert stored["response_text"] == WORDS and stored["outcome"] == "completed"


async def test_no_server_in_between_may_collect_the_events(open_clinic: Open) -> None:
    async with open_clinic() as clinic:
        answer = await clinic.check(headers=STREAM)

    assert answer.headers["x-accel-buffering"] == "no"
    assert answer.headers["cache-control"] == "no-store"
    assert "content-length" not in answer.headers


async def test_words_that_disagree_are_never_shown_and_the_template_is(open_clinic: Open) -> None:
    async with open_clinic(pipeline(narration="Thank you. You are booked for 9 December 2026. Bye.")) as clinic:
        received = await streamed(clinic)

    assert next(event.data for event in received if event.name == "narration") == {
        "text": "Thank you.",
        "replaces": False,
    }
    assert not any("9 December" in str(event.data) for event in received)
    assert shown(received) == received[-1].data["response_text"]
    assert received[-1].data["narration_source"] == "template"


@pytest.mark.parametrize(
    "narration",
    [
        CallFailed("gone"),
        "",
        "not json",
        Generation('{"response_text": "Thank you. We', "length", 1, 1, 1.0),
        {"response_text": WORDS, "more": 1},
    ],
)
async def test_however_the_narration_ends_the_words_shown_are_the_words_kept(open_clinic: Open, narration: Any) -> None:
    async with open_clinic(pipeline(narration=narration)) as clinic:
        received = await streamed(clinic)

    assert shown(received) == received[-1].data["response_text"] != ""


async def test_without_a_model_for_words_the_template_is_one_piece(open_clinic: Open) -> None:
    async with open_clinic(narration="template") as clinic:
        received = await streamed(clinic)

    assert [event.name for event in received] == ["facts", "decision", "narration", "done"]
    assert shown(received) == received[-1].data["response_text"]


async def test_where_the_model_decides_everything_comes_at_the_end(open_clinic: Open) -> None:
    async with open_clinic({"base": BOOKING}) as clinic:
        received = await streamed(clinic, {"X-Schema-Design": "base"})

    assert [event.name for event in received] == ["facts", "decision", "narration", "done"]
    assert received[0].data["facts"] is None
    assert received[1].data["action"] == "book_appointment"


async def test_a_retry_plays_the_first_answer(open_clinic: Open) -> None:
    key = {"Idempotency-Key": "k-1"}
    async with open_clinic() as clinic:
        first = (await clinic.check(headers=key)).json()
        again = await clinic.check(headers=STREAM | key)

    received = list(events(again.text.splitlines()))
    assert again.headers["idempotent-replayed"] == "true"
    assert [event.name for event in received] == ["facts", "decision", "narration", "done"]
    assert received[-1].data == first
    assert received[0].id.startswith(first["id"])


async def test_what_is_refused_before_it_begins_keeps_its_status(open_clinic: Open) -> None:
    async with open_clinic() as clinic:
        invalid = await clinic.check(headers=STREAM, message="")
        clinic.call_log.require_room = None  # type: ignore[method-assign, assignment]
        broken = await clinic.check(headers=STREAM)

    assert (invalid.status_code, broken.status_code) == (422, 500)
    assert invalid.headers["content-type"] == broken.headers["content-type"] == "application/problem+json"


async def test_what_fails_after_it_began_is_told_in_the_stream_and_recorded(open_clinic: Open) -> None:
    async with open_clinic({"pipeline.extract": CallFailed("gone")}) as clinic:
        received = await streamed(clinic)
        record = await clinic.call_log.read(UUID(received[0].id.split("/")[0]))

    assert [event.name for event in received] == ["error"]
    assert received[0].data["type"].endswith("engine-failed") and received[0].data["status"] == 502
    assert record is not None and record.outcome == "failed"


@pytest.mark.parametrize(
    ("accept", "is_stream"),
    [
        ("text/event-stream", True),
        ("Text/Event-Stream; q=0.9, */*", True),
        ("application/json, text/event-stream", False),
        ("*/*", False),
    ],
)
async def test_a_stream_is_for_who_asks_for_one(open_clinic: Open, accept: str, is_stream: bool) -> None:
    async with open_clinic() as clinic:
        answer: httpx.Response = await clinic.check(headers={"Accept": accept})

    assert answer.headers["content-type"].startswith("text/event-stream") is is_stream
