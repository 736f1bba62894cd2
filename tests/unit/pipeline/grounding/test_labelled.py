"""Labelled messages: what the scanner finds in them, and what is decided on what a model makes of them.

Data (tests/data/grounding), all written for this project and received on 2026-11-29 at 18:00 in London:
mentions.jsonl    340 messages with every mention of money, age, date and time labelled;
decisions.jsonl   360 requests with their facts and the right decision;
hostile.jsonl     200 texts that must not be booked although a naive reading would;
extracted.jsonl   what the default model (Qwen2.5-Coder-1.5B-Instruct int8, prompt version 2) extracted from those 560.
"""

import json
from collections import Counter
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from app.pipeline.grounding import ExtractedFacts, Message, ground
from app.policy import POLICY, Action, Decision, decide
from tests.support.mention_scores import Kind, Score, score_mentions
from tests.unit.pipeline.grounding.check import LONDON

DATA = Path(__file__).parents[3] / "data" / "grounding"


def read(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text().splitlines()]


DECISIONS, HOSTILE = read("decisions.jsonl"), read("hostile.jsonl")
EXTRACTED = {line["id"]: line["extracted"] for line in read("extracted.jsonl")}

FLOORS = {
    # at least: precision, recall
    ("money", "component"): (0.90, 0.90),
    ("money", "restated_total"): (0.95, 0.80),
    ("money", "range"): (0.85, 0.85),
    ("money", "discount"): (0.70, 0.85),
    ("money", "deposit"): (0.85, 0.85),
    ("money", "past"): (0.65, 0.70),
    ("money", "corrected"): (0.95, 0.95),
    ("money", "foreign"): (0.95, 0.95),
    ("money", "net"): (0.95, 0.85),
    ("age", "attendee"): (0.80, 0.75),
    ("age", "birth_date"): (0.85, 0.65),
    ("age", "other"): (0.80, 0.35),
    ("date", "absolute"): (0.88, 0.95),
    ("date", "relative"): (0.90, 0.78),
    ("date", "ambiguous"): (0.55, 0.90),
    ("date", "other"): (0.75, 0.65),
    ("time", "time"): (0.95, 0.80),
    ("time", "ambiguous"): (0.60, 0.80),
    ("time", "other"): (0.55, 0.75),
}


@pytest.fixture(scope="module")
def scores() -> dict[Kind, Score]:
    return score_mentions()


@pytest.mark.parametrize("kind", FLOORS, ids=" ".join)
def test_mentions_are_found_in_their_sense(kind: Kind, scores: dict[Kind, Score]) -> None:
    precision, recall = FLOORS[kind]

    assert scores[kind].precision >= precision
    assert scores[kind].recall >= recall


def decision_for(case: dict[str, Any], extracted: ExtractedFacts) -> Decision:
    turns = case.get("messages") or [{"role": "customer", "content": case["message"]}]
    conversation = [Message(turn["role"], turn["content"]) for turn in turns]
    received_at = datetime.fromisoformat(case["received_at"])
    grounded = ground(extracted, conversation, received_at, LONDON)
    return decide(grounded.to_policy_facts(received_at, LONDON), POLICY)


def outcome_of(case: dict[str, Any], decision: Decision) -> str:
    """right, safe (a person, where code could have decided), wrong (decided otherwise), unsafe (booked wrongly)."""
    is_right = (decision.action, decision.reason_code) == (case["action"], case["reason_code"])
    appointment = decision.appointment
    if appointment is not None:
        asked = (case["facts"]["requested_date"], case["facts"]["requested_time"])
        is_right = is_right and (appointment.date.isoformat(), appointment.time.isoformat("minutes")) == asked
        return "right" if is_right else "unsafe"
    return "right" if is_right else "safe" if decision.action is Action.ESCALATE_HUMAN else "wrong"


def stated(case: dict[str, Any]) -> ExtractedFacts:
    """What a model without fault extracts."""
    return _facts(case["facts"])


def extracted_by_model(case: dict[str, Any]) -> ExtractedFacts:
    said = EXTRACTED.get(case["id"])  # three blank messages never reach a model
    return _facts(said) if said is not None else ExtractedFacts(None, (), None, None)


def _facts(said: dict[str, Any]) -> ExtractedFacts:
    prices = tuple(Decimal(str(price)) for price in said["price_components"])
    return ExtractedFacts(said["customer_age"], prices, said["requested_date"], said["requested_time"])


@pytest.mark.parametrize("extract", [stated, extracted_by_model])
@pytest.mark.parametrize("case", [*DECISIONS, *HOSTILE], ids=lambda case: case["id"])
def test_no_message_is_booked_or_refused_wrongly(case: dict[str, Any], extract: Any) -> None:
    assert outcome_of(case, decision_for(case, extract(case))) in ("right", "safe")


@pytest.mark.parametrize(("extract", "least"), [(stated, 315), (extracted_by_model, 308)])
def test_most_requests_need_no_person(extract: Any, least: int) -> None:
    outcomes = Counter(outcome_of(case, decision_for(case, extract(case))) for case in DECISIONS)

    assert outcomes["right"] >= least
