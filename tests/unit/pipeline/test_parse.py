"""Lenient reading, strict judging: what counts as an answer."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.llm.engine import Generation, OutputSchema
from app.pipeline.design import closed_object
from app.pipeline.designs import ALL_CALLS, EXTRACT, SINGLE_CALL_DESIGNS
from app.pipeline.parse import ParsedOutput, parse_output

SCHEMA = OutputSchema(
    "t", closed_object({"n": {"type": "number"}, "response_text": {"type": "string", "maxLength": 5}})
)


def parse(text: str, finish_reason: str = "stop", schema: OutputSchema = SCHEMA) -> ParsedOutput:
    return parse_output(Generation(text, finish_reason, 1, 1, 1.0), schema)  # type: ignore[arg-type]


def test_a_bare_object_is_strict() -> None:
    output = parse('{"n":1.10,"response_text":"hi"}')

    assert output == ParsedOutput({"n": Decimal("1.10"), "response_text": "hi"}, True, True, None)


@pytest.mark.parametrize(
    "text",
    [
        '```json\n{"n":1,"response_text":"hi"}\n```',
        'Sure! {"n":1,"response_text":"hi"} Anything else?',
        'x {"n":1,"response_text":"}"} y',
        '{"n":1,"response_text":"\\"{"} {"n":2}',
    ],
)
def test_an_object_among_words_is_read_but_not_strict(text: str) -> None:
    output = parse(text)

    assert output.value is not None and not output.strict and output.flag is None


@pytest.mark.parametrize("finish_reason", ["length", "abort"])
def test_an_answer_cut_short_is_never_read_even_if_it_looks_whole(finish_reason: str) -> None:
    assert parse('{"n":1,"response_text":"hi"}', finish_reason).flag == "output_truncated"


@pytest.mark.parametrize(
    "text", ["", "no", "{", '{"n":1', "[1]", "null", "{} {", '{"n":NaN,"response_text":""}', "{" * 9999]
)
def test_text_without_an_object_is_not_json(text: str) -> None:
    assert parse(text).flag in ("output_not_json", "output_schema_violation")
    assert parse(text).value is None


@pytest.mark.parametrize(
    "text",
    [
        '{"n":1}',
        '{"n":"1","response_text":"hi"}',
        '{"n":true,"response_text":"hi"}',
        '{"n":1,"response_text":"too long"}',
        '{"n":1,"response_text":"hi","extra":1}',
    ],
)
def test_an_object_that_breaks_its_schema_has_no_value(text: str) -> None:
    assert parse(text).flag == "output_schema_violation"


@pytest.mark.parametrize("number", ["1e999999", "1" * 40, "-1e400", "1e-999"])
def test_numbers_out_of_any_range_are_refused_quickly(number: str) -> None:
    assert parse(f'{{"n":{number},"response_text":""}}').value is None


def test_a_property_given_twice_is_not_a_fact() -> None:
    assert parse('{"n":1,"n":2,"response_text":""}').value is None


def test_words_before_the_decision_are_noticed() -> None:
    output = parse('{"response_text":"hi","n":1}')

    assert output.value is not None and not output.field_order_ok


def test_extraction_accepts_nothing_for_everything() -> None:
    text = '{"customer_age":null,"price_components":[],"requested_date":null,"requested_time":null}'

    assert parse(text, schema=EXTRACT.schema).value is not None


@given(st.text())
def test_no_text_makes_parsing_raise(text: str) -> None:
    for call in (*SINGLE_CALL_DESIGNS.values(), EXTRACT):
        parse(text, schema=call.schema)


@given(st.data())
def test_our_validator_agrees_with_jsonschema_on_all_designs(data: st.DataObject) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    from app.pipeline.validate import violations

    call = data.draw(st.sampled_from(ALL_CALLS))
    value = data.draw(_instances(call.schema.json_schema))
    ours = not list(violations(value, call.schema.json_schema))

    assert ours == jsonschema.Draft202012Validator(call.schema.json_schema).is_valid(value)


def _instances(schema: dict) -> st.SearchStrategy:  # type: ignore[type-arg]
    """Mostly valid values, with a wrong one anywhere now and then."""
    wrong = st.one_of(st.none(), st.integers(-3, 3), st.text(max_size=3), st.booleans(), st.just([]), st.just({}))
    if "anyOf" in schema:
        right = st.one_of(*[_instances(option) for option in schema["anyOf"]])
    elif "enum" in schema:
        right = st.sampled_from(schema["enum"])
    else:
        right = {
            "boolean": st.booleans(),
            "null": st.none(),
            "integer": st.integers(),
            "number": st.integers(),
            "string": st.text(max_size=schema.get("maxLength", 9) + 1),
            "array": st.lists(st.integers(), max_size=schema.get("maxItems", 1) + 1),
            "object": st.fixed_dictionaries({k: _instances(v) for k, v in schema.get("properties", {}).items()}),
        }[schema["type"]]
    return st.integers(0, 19).flatmap(lambda n: wrong if n == 0 else right)
