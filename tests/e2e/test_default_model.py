"""The default model over HTTP: plainly written messages are decided right, and every design answers."""

import shutil
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.service import Running, service

pytestmark = pytest.mark.model

START_SECONDS = 1200
RECEIVED_AT = "2026-11-29T18:00:00Z"


@dataclass(frozen=True)
class Case:
    message: str
    action: str
    reason_code: str
    appointment: tuple[str, str] | None = None
    missing: tuple[str, ...] = ()


CASES = (
    Case(
        "Hello, I'm 34 and I'd like the £2,400 course on Tuesday 8 December 2026 at 10am.",
        "book_appointment", "eligible", ("2026-12-08", "10:00"),
    ),
    Case(
        "I am 52. £900 for the scan and £1,200 for the treatment, 2026-12-10 at 14:30 please.",
        "book_appointment", "eligible", ("2026-12-10", "14:30"),
    ),
    Case(
        "I'm 70 and the implants are £10,000 exactly. Wednesday 20 January 2027 at 3pm, please.",
        "book_appointment", "eligible", ("2027-01-20", "15:00"),
    ),
    Case("I'm 16, it's £2,400, Thursday 10 December 2026 at 11am.", "decline", "under_age"),
    Case("Age 71, the £420 scan, Monday 14 December 2026 at 3pm.", "escalate_human", "insufficient_info"),
    Case(
        "I'm 45: £6,500 for the implants plus £4,250 for sedation, 15 January 2027 at 9am.",
        "offer_alternative", "over_limit",
    ),
    Case("I am 60 and the programme is £12,500. 20 January 2027 at 1pm would suit me.", "decline", "over_limit"),
    Case(
        "I'd like the £300 session.",
        "escalate_human", "insufficient_info", missing=("customer_age", "requested_date", "requested_time"),
    ),
    Case(
        "I'm 29 and the peel is £310, on 5 January 2021 at 3pm.",
        "escalate_human", "insufficient_info", missing=("requested_date",),
    ),
    Case(
        "I am 41, it's £250, and I could come on 31 November 2026 at 9am.",
        "escalate_human", "insufficient_info", missing=("requested_date",),
    ),
)  # fmt: skip


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    folder = Path(tempfile.mkdtemp(prefix="booking-e2e-"))
    folder.chmod(0o755)
    with service(folder / "data", START_SECONDS, ENGINE="vllm", CHECK_TIMEOUT_SECONDS="600") as started:
        yield started
    shutil.rmtree(folder, ignore_errors=True)


def check(running: Running, message: str, **headers: str) -> httpx.Response:
    body = {"message": message, "received_at": RECEIVED_AT, "sampling": {"seed": 7}}
    return httpx.post(f"{running.client.base_url}/consultations/check", json=body, headers=headers, timeout=900)


@pytest.fixture(scope="module")
def answers(running: Running) -> dict[str, Any]:
    """All cases at once, as real traffic comes."""
    with ThreadPoolExecutor(len(CASES)) as pool:
        replies = pool.map(lambda case: check(running, case.message), CASES)
    return {case.message: reply.json() for case, reply in zip(CASES, replies, strict=True)}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.message[:40])
def test_a_plain_message_is_decided_right(answers: dict[str, Any], case: Case) -> None:
    answer = answers[case.message]

    assert (answer["action"], answer["eligibility"]["reason_code"]) == (case.action, case.reason_code), answer["facts"]
    appointment = answer["appointment"]
    assert (appointment and (appointment["date"], appointment["time"])) == case.appointment
    assert tuple(answer["missing_facts"]) == case.missing
    assert answer["valid"] and answer["consistent"] and answer["response_text"]


@pytest.mark.parametrize("enforcement", ["constrained", "unconstrained"])
def test_all_five_designs_answer(running: Running, enforcement: str) -> None:
    message = "I'm 41 and want the £6,500 implants and the £4,250 sedation, on Friday 15 January 2027 at 9am please."
    headers = [{"X-Schema-Design": str(n), "X-Enforcement": enforcement} for n in range(1, 6)]

    with ThreadPoolExecutor(5) as pool:
        replies = list(pool.map(lambda h: check(running, message, **h), headers))

    bodies = [reply.json() for reply in replies]
    assert [reply.status_code for reply in replies] == [200] * 5, bodies
    assert [body["design"] for body in bodies] == ["base", "reasoned", "tiered", "table", "pipeline"]
    assert bodies[4]["action"] == "offer_alternative"
    if enforcement == "constrained":
        assert all(body["valid"] and body["strict_json"] and body["field_order_ok"] for body in bodies), bodies
    metrics = running.client.get("/metrics").text
    assert f'booking_checks_total{{design="table",enforcement="{enforcement}",outcome="completed"}}' in metrics
    assert "vllm:prefix_cache_hits_total" in metrics
