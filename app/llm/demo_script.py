"""The scripted engine's replies when no file is given: plainly written facts, for a frontend to show."""

import json
import re

from app.llm.engine import OutputSchema, Prompt, Sampling

_AGE = re.compile(r"\b(?:i'?m|i am|aged?)\s+(\d{1,3})\b", re.IGNORECASE)
_PRICE = re.compile(r"£\s?(\d[\d,]*(?:\.\d{1,2})?)")
_DATE = re.compile(
    r"\b(?:\d{4}-\d{2}-\d{2}|\d{1,2} (?:january|february|march|april|may|june|july|august|september|october|november"
    r"|december)(?: \d{4})?|tomorrow|today)\b",
    re.IGNORECASE,
)
_TIME = re.compile(r"\b(?:\d{1,2}(?:[:.]\d{2})?\s?[ap]m|\d{1,2}:\d{2}|noon)\b", re.IGNORECASE)


def demo_reply(prompt: Prompt, schema: OutputSchema | None, sampling: Sampling) -> str:
    """Facts for the pipeline; for every other prompt an escalation, which is never wrong."""
    if prompt.name == "pipeline.extract":
        return json.dumps(_facts(prompt.messages[-1].content), ensure_ascii=False)
    if prompt.name == "pipeline.narrate":
        return json.dumps({"response_text": "Thank you for your message. This reply was written by a script."})
    return json.dumps(_escalation(prompt.name))


def _facts(text: str) -> dict[str, object]:
    age = _AGE.search(text)
    date, time = _DATE.search(text), _TIME.search(text)
    return {
        "customer_age": int(age[1]) if age else None,
        "price_components": [float(price.replace(",", "")) for price in _PRICE.findall(text)],
        "requested_date": date[0] if date else None,
        "requested_time": time[0] if time else None,
    }


def _escalation(name: str) -> dict[str, object]:
    first: dict[str, dict[str, object]] = {
        "reasoned": {"calculation": "not calculated by a script", "within_limit_banding": "within_limit"},
        "tiered": {"exceeds_value_limit": False, "over_limit_tier": None},
        "table": {
            "customer_age": 0,
            "age_within_18_to_70": False,
            "total_requested_value": 0,
            "total_at_most_10000": True,
            "total_at_most_12000": True,
        },
    }
    return first.get(name, {}) | {
        "eligibility": {"criteria_met": False, "reason_code": "insufficient_info"},
        "action": "escalate_human",
        "appointment": None,
        "response_text": "A member of our team will look at your request. This reply was written by a script.",
    }
