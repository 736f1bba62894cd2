"""A customer's words go when they should, everywhere; what was decided stays and recomputes."""

import asyncio
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from app.pipeline.replay import decision_from_record
from app.policy import POLICY
from tests.integration.clinic import Clinic, Open
from tests.integration.conftest import execute
from tests.support.replies import MESSAGE as PLAIN

SECRET = "Fortinbras"
MESSAGE = f"{PLAIN} My name is {SECRET}."
TABLES = ("consultations", "llm_calls", "consultation_contents", "llm_call_contents", "erasures")


def everything(database_url: str, folder: Path) -> str:
    """All that is stored anywhere."""
    rows = [str(execute(database_url, f"SELECT * FROM {table}")) for table in TABLES]
    files = [path.read_bytes().decode("utf-8", "replace") for path in folder.rglob("*") if path.is_file()]
    return "".join(rows + files)


async def erase(clinic: Clinic, path: str) -> httpx.Response:
    return await clinic.client.delete(path)


@pytest.mark.parametrize("where", ["in the spool", "in the database"])
async def test_erased_words_are_nowhere_and_the_decision_still_recomputes(
    open_clinic: Open, database_url: str, tmp_path: Path, where: str
) -> None:
    async with open_clinic() as clinic:
        check_id = (await clinic.check(message=MESSAGE)).json()["id"]
        if where == "in the database":
            await clinic.call_log.flush()
        assert SECRET in everything(database_url, tmp_path)

        receipt = (await erase(clinic, f"/consultations/{check_id}/content")).json()

        assert SECRET not in everything(database_url, tmp_path)
        stored = (await clinic.client.get(f"/consultations/{check_id}")).json()
        record = await clinic.call_log.read(receipt["consultation_id"])
    assert (receipt["consultation_id"], receipt["contents_erased"], receipt["calls_erased"]) == (check_id, 1, 2)
    assert receipt["requested_by"] == "local"
    assert stored["messages"] is None and stored["response_text"] is None
    assert record is not None
    decision = decision_from_record(record, POLICY)
    assert decision is not None and decision.action.value == stored["action"] == "book_appointment"


async def test_erasing_twice_gives_a_receipt_that_says_so(open_clinic: Open, database_url: str) -> None:
    async with open_clinic() as clinic:
        check_id = (await clinic.check()).json()["id"]
        await erase(clinic, f"/consultations/{check_id}/content")
        again = await erase(clinic, f"/consultations/{check_id}/content")

    assert (again.status_code, again.json()["contents_erased"]) == (200, 0)
    assert execute(database_url, "SELECT count(*) FROM erasures") == [(2,)]


async def test_a_check_that_nobody_knows_cannot_be_erased(open_clinic: Open) -> None:
    async with open_clinic() as clinic:
        answer = await erase(clinic, f"/consultations/{uuid4()}/content")

    assert (answer.status_code, answer.json()["type"]) == (404, "urn:booking-assistant:problem:not-found")


async def test_a_conversation_is_erased_whole_and_others_are_not(open_clinic: Open) -> None:
    async with open_clinic() as clinic:
        mine = [(await clinic.check(message=MESSAGE, conversation_id="mine")).json()["id"] for _ in range(2)]
        other = (await clinic.check(message=MESSAGE, conversation_id="other")).json()["id"]

        receipt = (await erase(clinic, "/conversations/mine/content")).json()

        kept = {}
        for check_id in [*mine, other]:
            kept[check_id] = (await clinic.client.get(f"/consultations/{check_id}")).json()["messages"] is not None
    assert (receipt["conversation_id"], receipt["contents_erased"], receipt["calls_erased"]) == ("mine", 2, 4)
    assert kept == {mine[0]: False, mine[1]: False, other: True}


async def test_a_check_in_flight_when_its_conversation_is_erased_keeps_no_words(
    open_clinic: Open, database_url: str, tmp_path: Path
) -> None:
    async with open_clinic(latency_seconds=0.5) as clinic:
        check = asyncio.create_task(clinic.check(message=MESSAGE, conversation_id="mine"))
        while not clinic.checks.admission.in_flight:
            await asyncio.sleep(0.01)
        erased = await erase(clinic, "/conversations/mine/content")
        answer: Any = (await check).json()
        await clinic.call_log.flush()
        words = everything(database_url, tmp_path)
        later = (await clinic.check(message=MESSAGE, conversation_id="mine")).json()
        new = (await clinic.client.get(f"/consultations/{later['id']}")).json()
        stored = (await clinic.client.get(f"/consultations/{answer['id']}")).json()

    assert erased.status_code == 200
    assert SECRET not in words
    assert answer["action"] == stored["action"] == "book_appointment"
    assert new["messages"] is not None, "what is said after the erasure is a new matter"


async def test_numbers_that_identify_a_person_are_not_stored(
    open_clinic: Open, database_url: str, tmp_path: Path
) -> None:
    message = MESSAGE + " Ring 07700 900123, card 4111 1111 1111 1111."
    async with open_clinic() as clinic:
        answer = (await clinic.check(message=message)).json()
        spooled = everything(database_url, tmp_path)
        await clinic.call_log.flush()

    assert answer["facts"]["customer_age"]["evidence"][0]["text"] == "I am 34"
    for number in ("07700 900123", "4111 1111 1111 1111"):
        assert number not in spooled and number not in everything(database_url, tmp_path)


async def test_what_cannot_be_masked_is_answered_and_kept_without_its_words(
    open_clinic: Open, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(record: Any) -> Any:
        raise RuntimeError(SECRET)

    monkeypatch.setattr("app.pipeline.checks.mask_record", fail)
    async with open_clinic() as clinic:
        answer = await clinic.check(message=MESSAGE)
        stored = (await clinic.client.get(f"/consultations/{answer.json()['id']}")).json()

    assert (answer.status_code, answer.json()["action"]) == (200, "book_appointment")
    assert answer.json()["response_text"]
    assert stored["action"] == "book_appointment" and stored["messages"] is None
    assert SECRET not in everything(database_url, tmp_path)
