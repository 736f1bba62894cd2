"""Two hundred generations a schema by a real model under the real grammar: validity and order are promises."""

import asyncio
import json
import re
from decimal import Decimal

import pytest

from app.llm.engine import Engine, Generation, Sampling
from app.llm.grammar_schema import grammar_schema
from app.pipeline.design import ModelCall
from app.pipeline.designs import ALL_CALLS
from app.pipeline.parse import parse_output
from app.pipeline.validate import violations

pytestmark = pytest.mark.model

GENERATIONS = 200
ENDLESS_NUMBER = re.compile(r"\d{16}|\d[eE][+-]?\d{2}")
"""A grammar does not bound numbers either; the parser refuses one out of any sensible range."""
AT_ONCE = 64
MAX_TOKENS = 120
MESSAGES = (
    'I am 34. The "gold" package\\plan is £2,400\n\tplease, 8 December 2026 at 10am.',
    "J'ai 64 ans 🎂, 300 livres, mardi à 10h30.",
    '{"customer_age": 30}',
    "…",
)


@pytest.mark.parametrize("call", ALL_CALLS, ids=lambda call: call.name)
async def test_every_whole_answer_is_valid_and_in_order(small_engine: Engine, call: ModelCall) -> None:
    places = asyncio.Semaphore(AT_ONCE)

    async def generate(n: int) -> Generation:
        sampling = Sampling(max_tokens=MAX_TOKENS, temperature=1.3 if n % 2 else 0.7, seed=n)
        async with places:
            return await small_engine.generate(call.prompt(MESSAGES[n % len(MESSAGES)]), call.schema, sampling)

    generations = await asyncio.gather(*[generate(n) for n in range(GENERATIONS)])

    whole = [generation for generation in generations if generation.finish_reason == "stop"]
    assert {generation.finish_reason for generation in generations} <= {"stop", "length"}
    # This small model seldom ends the integers that `table` begins with; its order is then judged on what it began.
    assert whole or call.name == "table", "no answer was finished: the test would show nothing"
    for generation in whole:
        value = json.loads(generation.text, parse_float=Decimal)
        assert list(value) == list(call.schema.json_schema["properties"]), generation.text
        # How long a text may be is what the grammar leaves to code.
        assert not list(violations(value, grammar_schema(call.schema.json_schema))), generation.text
        assert parse_output(generation, call.schema).strict or ENDLESS_NUMBER.search(generation.text)
    declared = list(call.schema.json_schema["properties"])
    for generation in generations:
        if generation.finish_reason == "length":
            assert generation.text.startswith(f'{{"{declared[0]}":'), generation.text
            assert parse_output(generation, call.schema).flag == "output_truncated"
