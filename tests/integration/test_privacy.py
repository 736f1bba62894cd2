"""A customer's words go to the store, never to a log, a metric or an error."""

import logging
from typing import Any

import pytest

from app.errors import CallFailed
from tests.integration.clinic import Open
from tests.integration.conftest import execute
from tests.support.replies import MESSAGE as PLAIN
from tests.support.replies import pipeline

SECRET = "Fortinbras"
MESSAGE = f"{PLAIN} My name is {SECRET}."

WAYS: dict[str, dict[str, Any]] = {
    "answered": {},
    "unreadable model output": {"replies": pipeline(facts=f"not json {SECRET}")},
    "engine failure": {"replies": pipeline() | {"pipeline.extract": CallFailed("no")}},
    "bug": {"replies": pipeline() | {"pipeline.extract": RuntimeError(SECRET)}},
}


@pytest.mark.parametrize("way", WAYS)
async def test_whatever_becomes_of_a_check_its_words_are_in_no_log_and_no_metric(
    open_clinic: Open, caplog: pytest.LogCaptureFixture, way: str
) -> None:
    caplog.set_level(logging.DEBUG, logger="app")
    async with open_clinic(**WAYS[way]) as clinic:
        answer = await clinic.check(message=MESSAGE, headers={"Idempotency-Key": "k"})
        text = (await clinic.client.get("/metrics")).text

    assert SECRET not in text
    assert SECRET not in "".join(f"{record.getMessage()} {vars(record)}" for record in caplog.records)
    assert answer.status_code == 200 or SECRET not in answer.text


@pytest.mark.parametrize(
    "body",
    [
        {"message": SECRET, "received_at": SECRET},
        {"message": SECRET, "timezone": SECRET},
        {"message": SECRET, SECRET.lower(): 1},
        {"messages": [{"role": "customer", "content": 1, "x": SECRET}]},
        {"message": f"{SECRET}\x00"},
        {"message": SECRET * 2000},
    ],
)
async def test_what_is_refused_is_not_echoed(
    open_clinic: Open, caplog: pytest.LogCaptureFixture, body: dict[str, Any]
) -> None:
    caplog.set_level(logging.DEBUG, logger="app")
    async with open_clinic() as clinic:
        answer = await clinic.client.post("/consultations/check", json=body)

    assert answer.status_code == 422
    assert SECRET not in answer.text
    assert SECRET not in "".join(f"{record.getMessage()} {vars(record)}" for record in caplog.records)


async def test_a_database_that_refuses_a_record_tells_no_log_what_was_in_it(
    open_clinic: Open, caplog: pytest.LogCaptureFixture, database_url: str
) -> None:
    caplog.set_level(logging.DEBUG, logger="app")
    execute(database_url, "ALTER TABLE consultation_contents ADD CONSTRAINT never CHECK (false)")
    async with open_clinic() as clinic:
        answer = await clinic.check(message=MESSAGE)
        await clinic.call_log.flush()

    assert answer.status_code == 200
    assert "spool.record_quarantined" in caplog.text
    assert SECRET not in "".join(f"{record.getMessage()} {vars(record)}" for record in caplog.records)
