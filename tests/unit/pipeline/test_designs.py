"""The five designs as the study has them: property order, what is asked, what is forbidden."""

import pytest

from app.llm.grammar_schema import grammar_schema
from app.pipeline.design import DesignName
from app.pipeline.designs import ALL_CALLS, EXTRACT, NARRATE, SINGLE_CALL_DESIGNS
from app.pipeline.validate import lint_schema
from app.policy import POLICY_TEXT

DECISION = ["eligibility", "action", "appointment", "response_text"]


@pytest.mark.parametrize(
    ("design", "properties"),
    [
        (DesignName.BASE, DECISION),
        (DesignName.REASONED, ["calculation", "within_limit_banding", *DECISION]),
        (DesignName.TIERED, ["exceeds_value_limit", "over_limit_tier", *DECISION]),
        (
            DesignName.TABLE,
            [
                "customer_age",
                "age_within_18_to_70",
                "total_requested_value",
                "total_at_most_10000",
                "total_at_most_12000",
                *DECISION,
            ],
        ),
    ],
)
def test_a_design_declares_its_properties_in_the_studys_order(design: DesignName, properties: list[str]) -> None:
    assert list(SINGLE_CALL_DESIGNS[design].schema.json_schema["properties"]) == properties


def test_the_pipelines_grammar_has_no_place_for_a_decision_or_a_sum() -> None:
    assert list(EXTRACT.schema.json_schema["properties"]) == [
        "customer_age",
        "price_components",
        "requested_date",
        "requested_time",
    ]
    assert list(NARRATE.schema.json_schema["properties"]) == ["response_text"]


def test_the_policy_text_is_byte_identical_in_every_design_that_carries_it() -> None:
    assert all(call.system.count(POLICY_TEXT) == 1 for call in SINGLE_CALL_DESIGNS.values())
    assert POLICY_TEXT not in EXTRACT.system + NARRATE.system


@pytest.mark.parametrize("call", ALL_CALLS, ids=lambda call: call.name)
def test_every_schema_uses_only_what_is_enforced_and_validated(call) -> None:  # type: ignore[no-untyped-def]
    lint_schema(call.schema.json_schema)


@pytest.mark.parametrize("call", ALL_CALLS, ids=lambda call: call.name)
def test_the_prompt_names_every_property(call) -> None:  # type: ignore[no-untyped-def]
    assert all(f'"{name}"' in call.system for name in call.schema.json_schema["properties"])


@pytest.mark.parametrize("call", ALL_CALLS, ids=lambda call: call.name)
def test_the_customers_text_comes_last(call) -> None:  # type: ignore[no-untyped-def]
    messages = call.prompt("the customer's words").messages

    assert messages[-1].content == "the customer's words"
    assert all("the customer's words" not in message.content for message in messages[:-1])


def test_the_grammar_leaves_string_lengths_to_code_and_changes_nothing_else() -> None:
    grammar = grammar_schema(EXTRACT.schema.json_schema)

    assert "maxLength" not in str(grammar)
    assert list(grammar["properties"]) == list(EXTRACT.schema.json_schema["properties"])
    assert grammar["properties"]["price_components"]["maxItems"] == 10
    assert grammar["additionalProperties"] is False


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "pattern": "a"},
        {"anyOf": [{"type": "null"}], "type": "object"},
        {"type": "object", "properties": {"a": {"type": "null"}}, "required": [], "additionalProperties": False},
        {"type": "object", "properties": {}, "required": []},
    ],
)
def test_a_schema_that_a_grammar_would_not_hold_is_refused(schema: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"\$"):
        lint_schema(schema)
