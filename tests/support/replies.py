"""Replies for a scripted engine in tests."""

import json
from collections.abc import Mapping
from typing import Any

from app.llm.engine import Generation, OutputSchema, Prompt, Sampling
from app.llm.scripted_engine import Reply

FACTS: dict[str, Any] = {
    "customer_age": 34,
    "price_components": [2400, 150],
    "requested_date": "8 December 2026",
    "requested_time": "10am",
}
MESSAGE = "I am 34 and would like the £2,400 course and the £150 check-up on 8 December 2026 at 10am."
RECEIVED_AT = "2026-11-29T18:00:00Z"

BOOKING: dict[str, Any] = {
    "eligibility": {"criteria_met": True, "reason_code": "eligible"},
    "action": "book_appointment",
    "appointment": {"date": "2026-12-08", "time": "10:00"},
    "response_text": "You are booked for 8 December 2026 at 10:00.",
}


def says(replies: Mapping[str, Any]) -> Reply:
    """By prompt name: text, an object, a Generation, or an exception to raise."""

    def reply(prompt: Prompt, schema: OutputSchema | None, sampling: Sampling) -> str | Generation:
        said = replies[prompt.name]
        if isinstance(said, Exception):
            raise said
        return said if isinstance(said, str | Generation) else json.dumps(said)

    return reply


def pipeline(facts: Mapping[str, Any] | str = FACTS, narration: Any = "We have noted your request.") -> dict[str, Any]:
    """Replies of both calls of the pipeline."""
    worded = {"response_text": narration} if isinstance(narration, str) else narration
    return {"pipeline.extract": facts, "pipeline.narrate": worded}
