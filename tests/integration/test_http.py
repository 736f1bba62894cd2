"""The HTTP interface over a real Postgres, with a scripted model: what callers see, and what is kept."""

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from app.errors import CallFailed, EngineNotReady, PromptTooLong
from app.llm.engine import Generation
from app.pipeline.admission import AdmissionLimits
from app.pipeline.checks import CheckLimits
from app.pipeline.replay import decision_from_record
from app.policy import POLICY
from app.store.records import CheckRecord
from app.store.spool import SpoolLimits
from tests.integration.clinic import Clinic, Open
from tests.support.replies import BOOKING, FACTS, MESSAGE, pipeline

ROOMY = AdmissionLimits(8, 8, 5)
PROBLEM = "urn:booking-assistant:problem:"


async def test_a_plain_request_is_booked_and_explained(open_clinic: Open) -> None:
    async with open_clinic() as clinic:
        answer = await clinic.check()

    body = answer.json()
    assert answer.status_code == 200
    assert body["action"] == "book_appointment"
    assert body["eligibility"] == {"criteria_met": True, "reason_code": "eligible"}
    assert body["appointment"] == {"date": "2026-12-08", "time": "10:00"}
    assert body["facts"]["total_pence"]["value"] == 2_550_00
    evidence = body["facts"]["customer_age"]["evidence"][0]
    assert MESSAGE[evidence["start"] : evidence["end"]] == evidence["text"] == "I am 34"
    assert [step["rule"] for step in body["policy"]["trace"]][-1] == "eligible"
    assert body["policy"]["version"] == POLICY.version and body["policy"]["hash"] == POLICY.content_hash
    assert (body["valid"], body["strict_json"], body["field_order_ok"], body["consistent"]) == (True,) * 4
    assert body["usage"]["calls"] == 2
    assert {"extract", "ground", "policy", "narrate", "total"} <= set(body["timings_ms"])
    assert UUID(body["id"]).version == 7


async def test_the_record_holds_everything_and_the_decision_recomputes_from_it(open_clinic: Open) -> None:
    async with open_clinic() as clinic:
        answer = await clinic.check(
            conversation_id="c-1", sampling={"seed": 7, "temperature": 0.5}, headers={"X-Request-Id": "r-1"}
        )
        record = await clinic.record(answer)

    assert answer.headers["x-request-id"] == record.request_id == "r-1"
    assert record.outcome == "completed" and record.conversation_id == "c-1"
    assert [call.kind for call in record.calls] == ["extract", "narrate"]
    assert all((call.seed, call.temperature) == (7, 0.5) for call in record.calls)
    assert json.loads(record.calls[0].raw_output or "") == FACTS
    assert record.messages == ({"role": "customer", "content": MESSAGE},)
    assert "I am 34" not in json.dumps(record.facts), "evidence is stored as offsets, so that text can be erased"
    recomputed = decision_from_record(record, POLICY)
    assert recomputed is not None and record.decision is not None
    assert recomputed.action.value == record.decision["action"] == "book_appointment"


async def test_extraction_is_greedy_unless_the_caller_says_otherwise(open_clinic: Open) -> None:
    async with open_clinic() as clinic:
        record = await clinic.record(await clinic.check())

    assert [call.temperature for call in record.calls] == [0.0, 0.7]
    assert record.calls[0].seed == record.calls[1].seed is not None


@pytest.mark.parametrize(
    ("facts", "message", "action", "reason"),
    [
        ({"customer_age": 16}, MESSAGE.replace("34", "16"), "decline", "under_age"),
        ({"customer_age": 71}, MESSAGE.replace("34", "71"), "escalate_human", "insufficient_info"),
        ({"price_components": [10750]}, "I am 34, £10,750, 8 December 2026 at 10am", "offer_alternative", "over_limit"),
        ({"price_components": [12000.01]}, "I am 34, £12,000.01, 8 December 2026 at 10am", "decline", "over_limit"),
        ({"requested_time": None}, MESSAGE.replace(" at 10am", ""), "escalate_human", "insufficient_info"),
    ],
)
async def test_code_decides(open_clinic: Open, facts: Any, message: str, action: str, reason: str) -> None:
    async with open_clinic(pipeline(FACTS | facts)) as clinic:
        body = (await clinic.check(message=message)).json()

    assert (body["action"], body["eligibility"]["reason_code"], body["appointment"]) == (action, reason, None)


@pytest.mark.parametrize(
    "wrong",
    [
        {"customer_age": 43},
        {"price_components": [2400]},
        {"price_components": [240, 150]},
        {"requested_date": "9 December 2026"},
    ],
)
async def test_a_fact_that_the_text_does_not_bear_out_is_never_booked(open_clinic: Open, wrong: Any) -> None:
    async with open_clinic(pipeline(FACTS | wrong)) as clinic:
        body = (await clinic.check()).json()

    assert body["action"] == "escalate_human"


@pytest.mark.parametrize("said", ["no json", '{"customer_age":34}', Generation(json.dumps(FACTS), "length", 9, 9, 1.0)])
async def test_extraction_that_cannot_be_used_goes_to_a_person(open_clinic: Open, said: Any) -> None:
    async with open_clinic(pipeline(said)) as clinic:
        answer = await clinic.check()
        record = await clinic.record(answer)

    body = answer.json()
    assert answer.status_code == 200
    assert (body["valid"], body["action"], body["eligibility"]["reason_code"]) == (
        False, "escalate_human", "insufficient_info",
    )  # fmt: skip
    assert body["flags"] and record.outcome == "invalid_output"


@pytest.mark.parametrize(
    ("narration", "flag"),
    [
        ("You are booked for 9 December 2026 at 10:00.", "narration_date_not_in_decision"),
        ("Unfortunately we cannot book this.", "narration_book_but_decline_language"),
        ("  ", "narration_empty"),
        ({"response_text": 3}, "narration_output_schema_violation"),
        (Generation('{"response_text":"You', "length", 9, 9, 1.0), "narration_output_truncated"),
        (CallFailed("the engine failed this call"), "narration_failed"),
    ],
)
async def test_words_that_cannot_be_used_are_replaced_and_the_decision_stands(
    open_clinic: Open, narration: Any, flag: str
) -> None:
    async with open_clinic(pipeline(narration=narration)) as clinic:
        answer = await clinic.check()
        record = await clinic.record(answer)

    body = answer.json()
    assert body["action"] == "book_appointment"
    assert body["narration_source"] == "template" and flag in body["flags"]
    assert body["response_text"] == "Thank you. Your appointment is booked for Tuesday 8 December 2026 at 10:00."
    assert body["consistent"] is True
    assert record.narration_source == "template" and record.outcome == "completed"


async def test_templates_only_asks_the_model_once(open_clinic: Open) -> None:
    async with open_clinic(narration="template") as clinic:
        body = (await clinic.check()).json()

    assert body["usage"]["calls"] == 1 and body["narration_source"] == "template" and body["flags"] == []


DESIGNS = {
    "base": BOOKING,
    "reasoned": {"calculation": "2400 + 150", "within_limit_banding": "within_limit"} | BOOKING,
    "tiered": {"exceeds_value_limit": False, "over_limit_tier": None} | BOOKING,
    "table": {
        "customer_age": 34, "age_within_18_to_70": True, "total_requested_value": 2550,
        "total_at_most_10000": True, "total_at_most_12000": True,
    } | BOOKING,
}  # fmt: skip


@pytest.mark.parametrize("enforcement", ["constrained", "unconstrained"])
@pytest.mark.parametrize(("number", "name"), list(enumerate(DESIGNS, start=1)))
async def test_a_design_that_decides_is_returned_untouched(
    open_clinic: Open, number: int, name: str, enforcement: str
) -> None:
    async with open_clinic({name: DESIGNS[name]}) as clinic:
        by_name = await clinic.check({"X-Schema-Design": name, "X-Enforcement": enforcement})
        by_number = await clinic.check({"X-Schema-Design": str(number), "X-Enforcement": enforcement})
        record = await clinic.record(by_name)

    body = by_name.json()
    assert body["design"] == by_number.json()["design"] == name
    assert body["action"] == "book_appointment" and body["appointment"] == BOOKING["appointment"]
    assert body["response_text"] == BOOKING["response_text"] and body["facts"] is None and body["policy"]["trace"] == []
    assert record.calls[0].constrained == (enforcement == "constrained")


async def test_a_deciding_design_that_contradicts_itself_is_flagged_and_not_mended(open_clinic: Open) -> None:
    wrong = BOOKING | {"action": "decline", "eligibility": {"criteria_met": False, "reason_code": "over_limit"}}
    async with open_clinic({"base": wrong}) as clinic:
        body = (await clinic.check({"X-Schema-Design": "base"})).json()

    assert body["action"] == "decline" and body["appointment"] == BOOKING["appointment"] and not body["consistent"]
    assert body["flags"] == ["non_book_but_appointment_populated", "booking_confirmation"]


async def test_fenced_output_is_read_and_not_strict(open_clinic: Open) -> None:
    async with open_clinic({"base": f"```json\n{json.dumps(BOOKING)}\n```"}) as clinic:
        body = (await clinic.check({"X-Schema-Design": "base", "X-Enforcement": "unconstrained"})).json()

    assert (body["valid"], body["strict_json"]) == (True, False)


async def test_a_stored_check_can_be_read_back(open_clinic: Open) -> None:
    async with open_clinic() as clinic:
        body = (await clinic.check()).json()
        stored = (await clinic.client.get(f"/consultations/{body['id']}")).json()

    for name in ("id", "design", "eligibility", "action", "appointment", "facts", "policy", "response_text", "flags"):
        assert stored[name] == body[name], name
    assert stored["messages"] == [{"role": "customer", "content": MESSAGE}]
    assert json.loads(stored["calls"][0]["raw_output"]) == FACTS


async def test_a_caller_in_a_hurry_gets_the_decision_in_the_services_own_words(open_clinic: Open) -> None:
    async with open_clinic(latency_seconds=0.4) as clinic:
        answer = await clinic.check({"X-Timeout-Seconds": "1"})

    body = answer.json()
    assert (answer.status_code, body["action"]) == (200, "book_appointment")
    assert (body["narration_source"], body["flags"]) == ("template", ["narration_late"])


async def test_a_narration_that_will_not_be_done_in_time_is_not_begun(open_clinic: Open) -> None:
    async with open_clinic(latency_seconds=0.3) as clinic:
        for _ in range(5):
            await clinic.check()
        hurried = await clinic.check({"X-Timeout-Seconds": "1.05"})

    assert hurried.json()["flags"] == ["narration_no_time"]
    assert hurried.json()["usage"]["calls"] == 1


@pytest.mark.parametrize(
    ("failure", "status", "name", "outcome"),
    [
        (EngineNotReady("the engine's process has died"), 503, "not-ready", "failed"),
        (CallFailed("the engine failed this call"), 502, "engine-failed", "failed"),
        (PromptTooLong(9000, 8000), 422, "message-too-long", "refused"),
    ],
)
async def test_a_check_without_an_answer_leaves_its_record(
    open_clinic: Open, database_url: str, failure: Exception, status: int, name: str, outcome: str
) -> None:
    async with open_clinic(pipeline() | {"pipeline.extract": failure}) as clinic:
        answer = await clinic.check(headers={"X-Request-Id": "lost"})
        records = await all_records(clinic, database_url)

    assert (answer.status_code, answer.json()["type"]) == (status, PROBLEM + name)
    assert [(r.outcome, r.request_id, len(r.calls)) for r in records] == [(outcome, "lost", 1)]
    assert records[0].calls[0].error == type(failure).__name__
    if status == 503:
        assert answer.headers["retry-after"]


async def test_a_check_that_takes_too_long_is_stopped_and_recorded(open_clinic: Open, database_url: str) -> None:
    limits = CheckLimits(check_timeout_seconds=0.2, narration_timeout_seconds=5, admission=ROOMY)
    async with open_clinic(latency_seconds=30, limits=limits) as clinic:
        answer = await clinic.check()
        records = await all_records(clinic, database_url)

    assert (answer.status_code, answer.json()["type"]) == (504, PROBLEM + "deadline-exceeded")
    assert [r.outcome for r in records] == ["timed_out"]


async def test_a_late_narration_costs_a_template_and_not_the_check(open_clinic: Open) -> None:
    limits = CheckLimits(check_timeout_seconds=30, narration_timeout_seconds=0.05, admission=ROOMY)
    async with open_clinic(latency_seconds=0.2, limits=limits) as clinic:
        body = (await clinic.check()).json()

    assert body["action"] == "book_appointment" and body["flags"] == ["narration_late"]
    assert body["narration_source"] == "template"


async def test_a_client_that_goes_away_stops_the_work_and_leaves_a_record(open_clinic: Open, database_url: str) -> None:
    async with open_clinic(latency_seconds=30) as clinic:
        request = asyncio.create_task(clinic.check())
        while not clinic.checks.admission.in_flight:
            await asyncio.sleep(0.01)
        request.cancel()
        await asyncio.wait({request})
        await clinic.checks.admission.idle()
        records = await all_records(clinic, database_url)

    assert [(r.outcome, r.calls[0].error) for r in records] == [("cancelled", "CancelledError")]


async def test_more_checks_than_allowed_are_refused_at_once(open_clinic: Open) -> None:
    limits = CheckLimits(check_timeout_seconds=30, narration_timeout_seconds=5, admission=AdmissionLimits(1, 1, 5))
    async with open_clinic(latency_seconds=0.3, limits=limits) as clinic:
        answers = await asyncio.gather(*[clinic.check() for _ in range(3)])

    assert sorted(answer.status_code for answer in answers) == [200, 200, 503], "one works, one waits, one is refused"
    refused = next(answer for answer in answers if answer.status_code == 503)
    assert refused.json()["type"] == PROBLEM + "overloaded" and refused.headers["retry-after"]


async def test_a_check_for_which_there_is_no_room_is_refused_before_anything_of_it_is_read(open_clinic: Open) -> None:
    limits = CheckLimits(check_timeout_seconds=30, narration_timeout_seconds=5, admission=AdmissionLimits(1, 0, 5))
    async with open_clinic(latency_seconds=0.5, limits=limits) as clinic:
        first = asyncio.create_task(clinic.check())
        while not clinic.checks.admission.in_flight:
            await asyncio.sleep(0.01)
        refused = await clinic.client.post("/consultations/check", content=b"not json")
        other = await clinic.client.get("/livez")
        await first

    assert (refused.status_code, refused.json()["type"]) == (503, PROBLEM + "overloaded")
    assert refused.headers["retry-after"] and refused.headers["x-request-id"]
    assert other.status_code == 200


async def test_without_its_record_no_answer_is_given(open_clinic: Open, tmp_path: Path) -> None:
    async with open_clinic(spool=SpoolLimits(segment_bytes=1024)) as clinic:
        await clinic.check()
        shutil.rmtree(tmp_path / "spool")
        answer = await clinic.check()
        next_answer = await clinic.check()

    assert (answer.status_code, answer.json()["type"]) == (503, PROBLEM + "store-unavailable")
    assert "action" not in answer.json()
    assert (next_answer.status_code, next_answer.headers["retry-after"]) == (503, "10")


async def test_readiness_names_the_part_that_is_not_ready(open_clinic: Open) -> None:
    async with open_clinic() as clinic:
        ready = await clinic.client.get("/readyz")
        await clinic.checks.engine.aclose()
        not_ready = await clinic.client.get("/readyz")
        refused = await clinic.check()
        alive = await clinic.client.get("/livez")

    assert ready.status_code == 200 and ready.json()["ready"] is True
    assert not_ready.status_code == 503 and not_ready.json()["parts"]["engine"] != "ok"
    assert refused.status_code == 503 and refused.headers["retry-after"]
    assert alive.status_code == 200


async def test_metrics_count_by_design_and_enforcement(open_clinic: Open) -> None:
    async with open_clinic() as clinic:
        await clinic.check()
        text = (await clinic.client.get("/metrics")).text

    condition = 'design="pipeline",enforcement="constrained"'
    assert f'booking_checks_total{{{condition},outcome="completed"}}' in text
    assert f'booking_decisions_total{{action="book_appointment",{condition},reason_code="eligible"}}' in text
    for sample in (
        f"booking_check_duration_seconds_count{{{condition}}}",
        f'booking_stage_duration_seconds_count{{{condition},stage="extract"}}',
        f'booking_outputs_total{{{condition},holds="true",property="valid"}}',
        f'booking_narrations_total{{cause="none",{condition},source="model"}}',
        f'booking_llm_tokens_total{{{condition},direction="prompt",kind="extract"}}',
        f"booking_checks_in_flight{{{condition}}}",
        "booking_ready 1.0",
    ):
        assert sample in text or sorted_labels(sample) in text, sample
    assert MESSAGE not in text


def sorted_labels(sample: str) -> str:
    """The sample with its labels by name, as the exposition writes them."""
    name, _, labels = sample.rstrip("}").partition("{")
    return f"{name}{{{','.join(sorted(labels.split(',')))}}}"


async def test_a_bug_of_ours_is_a_problem_with_the_request_id_and_is_counted(open_clinic: Open) -> None:
    async with open_clinic(pipeline() | {"pipeline.extract": RuntimeError("secret words")}) as clinic:
        answer = await clinic.check(headers={"X-Request-Id": "bug-1"})
        text = (await clinic.client.get("/metrics")).text

    assert (answer.status_code, answer.json()["type"]) == (500, PROBLEM + "internal-error")
    assert answer.headers["x-request-id"] == answer.json()["request_id"] == "bug-1"
    assert "secret words" not in answer.text
    assert 'method="POST",route="/consultations/check",status="500"' in text


async def all_records(clinic: Clinic, database_url: str) -> list[CheckRecord]:
    """Every record of this test's database, oldest first."""
    await clinic.call_log.flush()
    from sqlalchemy import select
    from sqlalchemy.ext.asyncio import create_async_engine

    from app.store.tables import consultations

    engine = create_async_engine(database_url)
    async with engine.connect() as connection:
        ids = (await connection.execute(select(consultations.c.id).order_by(consultations.c.id))).scalars().all()
    await engine.dispose()
    found = [await clinic.call_log.read(check_id) for check_id in ids]
    return [record for record in found if record is not None]
