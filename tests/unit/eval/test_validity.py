import json

import pytest

from app.pipeline.designs import EXTRACT, NARRATE, SINGLE_CALL_DESIGNS
from eval.validity import judge

BASE = next(iter(SINGLE_CALL_DESIGNS.values())).schema
DECISION = {
    "eligibility": {"criteria_met": False, "reason_code": "under_age"},
    "action": "decline",
    "appointment": None,
    "response_text": "We are sorry.",
}
FACTS = {"customer_age": 34, "price_components": [400], "requested_date": None, "requested_time": None}


def call(schema_hash: str, raw: str | None, finish: str = "stop") -> dict[str, str | None]:
    return {"schema_hash": schema_hash, "raw_output": raw, "finish_reason": finish}


@pytest.mark.parametrize(
    ("raw", "finish", "valid", "strict", "order"),
    [
        (json.dumps(DECISION), "stop", True, True, True),
        (f"```json\n{json.dumps(DECISION)}\n```", "stop", True, False, True),
        (json.dumps(dict(reversed(DECISION.items()))), "stop", True, True, False),
        (json.dumps(DECISION | {"action": "book"}), "stop", False, True, True),
        (json.dumps(DECISION), "length", False, False, False),
        ("I would decline.", "stop", False, False, False),
    ],
)
def test_a_raw_output_is_judged_here_again(raw: str, finish: str, valid: bool, strict: bool, order: bool) -> None:
    judged = judge([call(BASE.sha256, raw, finish)])

    assert judged is not None
    assert (judged.valid_json, judged.strict_json, judged.field_order_ok) == (valid, strict, order)


def test_the_extraction_makes_the_pipeline_valid_and_both_calls_make_it_strict() -> None:
    judged = judge([call(EXTRACT.schema.sha256, json.dumps(FACTS)), call(NARRATE.schema.sha256, "Hello!")])

    assert judged is not None
    assert judged.valid_json and not judged.strict_json


def test_nothing_is_judged_by_a_schema_that_is_not_known_or_without_the_raw_output() -> None:
    assert judge([call("0" * 64, "{}")]) is None
    assert judge([call(BASE.sha256, None)]) is None
    assert judge([]) is None
