"""A retry with the same Idempotency-Key gets the reply of the first request, and costs the engine nothing."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from app.errors import CallFailed
from app.pipeline import idempotency
from tests.integration.clinic import Open
from tests.integration.conftest import execute
from tests.support.replies import MESSAGE, pipeline

KEY = {"Idempotency-Key": "a-key-of-the-caller"}
PROBLEM = "urn:booking-assistant:problem:"


async def test_a_retry_gets_the_same_reply_without_another_check(open_clinic: Open, database_url: str) -> None:
    async with open_clinic() as clinic:
        first, second = await clinic.check(KEY), await clinic.check(KEY)

    assert second.content == first.content
    assert (first.headers.get("idempotent-replayed"), second.headers.get("idempotent-replayed")) == (None, "true")
    assert execute(database_url, "SELECT count(*) FROM consultations") == [(1,)]


async def test_a_reply_from_the_database_is_the_same_as_the_first(open_clinic: Open) -> None:
    async with open_clinic() as clinic:
        first = await clinic.check(KEY)
        await clinic.call_log.flush()
        second = await clinic.check(KEY)

    assert second.json() == first.json()
    assert second.headers["idempotent-replayed"] == "true"


async def test_a_retry_after_a_restart_gets_the_same_reply(open_clinic: Open) -> None:
    async with open_clinic() as clinic:
        first = await clinic.check(KEY)
    async with open_clinic() as restarted:
        second = await restarted.check(KEY)

    assert second.json() == first.json()


@pytest.mark.parametrize(
    ("headers", "changes"),
    [({}, {"message": "Hello, I am 20."}), ({"X-Schema-Design": "base"}, {}), ({"X-Enforcement": "unconstrained"}, {})],
)
async def test_a_key_stands_for_one_request(open_clinic: Open, headers: dict[str, str], changes: Any) -> None:
    async with open_clinic() as clinic:
        await clinic.check(KEY, message=MESSAGE)
        other = await clinic.check(KEY | headers, **({"message": MESSAGE} | changes))

    assert (other.status_code, other.json()["type"]) == (422, PROBLEM + "idempotency-mismatch")


async def test_a_retry_while_the_first_is_worked_on_is_told_to_wait(open_clinic: Open) -> None:
    async with open_clinic(latency_seconds=0.5) as clinic:
        first, second = await asyncio.gather(clinic.check(KEY), clinic.check(KEY))

    assert first.status_code == 200
    assert (second.status_code, second.json()["type"]) == (409, PROBLEM + "idempotency-in-flight")
    assert second.headers["retry-after"]


async def test_a_check_that_failed_may_be_retried(open_clinic: Open) -> None:
    async with open_clinic(pipeline() | {"pipeline.extract": CallFailed("no")}) as clinic:
        failed = await clinic.check(KEY)
    async with open_clinic() as clinic:
        retried = await clinic.check(KEY)

    assert (failed.status_code, retried.status_code) == (502, 200)
    assert "idempotent-replayed" not in retried.headers


async def test_after_a_day_a_key_is_new(open_clinic: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_clinic() as clinic:
        first = await clinic.check(KEY)
        monkeypatch.setattr(idempotency, "REMEMBERED", timedelta(0))
        second = await clinic.check(KEY)

    assert first.json()["id"] != second.json()["id"]


async def test_a_reply_whose_content_was_erased_does_not_come_back(open_clinic: Open, database_url: str) -> None:
    async with open_clinic() as clinic:
        await clinic.check(KEY)
        await clinic.call_log.flush()
        execute(database_url, "DELETE FROM consultation_contents")
        retried = await clinic.check(KEY)

    assert (retried.status_code, retried.json()["type"]) == (410, PROBLEM + "content-erased")
