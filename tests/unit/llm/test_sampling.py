"""How to draw tokens: nothing a caller can write reaches an engine in a form that has killed one."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from app.api.schemas import SamplingIn
from app.llm.engine import MAX_SEED, Sampling

REFUSED: tuple[tuple[str, Any], ...] = (
    ("seed", True),
    ("seed", 1.0),
    ("seed", "1"),
    ("seed", -1),
    ("seed", MAX_SEED + 1),
    ("seed", 10**400),
    ("seed", math.nan),
    ("temperature", True),
    ("temperature", "1"),
    ("temperature", -0.1),
    ("temperature", 2.1),
    ("temperature", 10**400),
    ("temperature", math.nan),
    ("temperature", math.inf),
    ("max_tokens", True),
    ("max_tokens", 0),
    ("max_tokens", 2049),
    ("max_tokens", 1.0),
    ("max_tokens", None),
    ("top_p", 0.5),
)


@pytest.mark.parametrize(("name", "value"), REFUSED)
def test_a_value_that_an_engine_may_die_of_is_refused(name: str, value: Any) -> None:
    with pytest.raises(ValidationError):
        Sampling(**({"max_tokens": 1} | {name: value}))


@pytest.mark.parametrize("seed", [None, 0, MAX_SEED])
@pytest.mark.parametrize("temperature", [0.0, -0.0, 5e-324, 2.0])
def test_a_value_at_the_edge_of_its_range_is_taken(seed: int | None, temperature: float) -> None:
    assert Sampling(max_tokens=1, temperature=temperature, seed=seed).seed == seed


def test_what_was_checked_cannot_be_changed() -> None:
    sampling = Sampling(max_tokens=1)

    with pytest.raises(ValidationError):
        sampling.seed = True  # type: ignore[misc]


NUMBERS = st.one_of(st.integers(), st.integers(0, 2**32), st.floats(), st.floats(0, 2), st.floats(-1e-300, 1e-300))
ANYTHING = st.one_of(NUMBERS, st.booleans(), st.none(), st.text(max_size=5), st.lists(NUMBERS, max_size=2))


@given(ANYTHING, ANYTHING)
def test_what_the_interface_lets_in_is_whole_numbers_and_real_ones_in_range(seed: Any, temperature: Any) -> None:
    try:
        taken = SamplingIn.model_validate_json(json.dumps({"seed": seed, "temperature": temperature}))
    except ValidationError:
        return

    assert taken.seed is None or (type(taken.seed) is int and 0 <= taken.seed <= MAX_SEED)
    assert taken.temperature is None or (type(taken.temperature) is float and 0 <= taken.temperature <= 2)
    assert Sampling(max_tokens=1, temperature=taken.temperature or 0.0, seed=taken.seed)


@pytest.mark.model
@pytest.mark.parametrize("temperature", [0.0, -0.0])
def test_where_nothing_is_drawn_no_seed_reaches_the_engine(temperature: float) -> None:
    from app.llm.vllm_engine.engine import _parameters

    parameters = _parameters(None, Sampling(max_tokens=1, temperature=temperature, seed=7), in_pieces=False)

    assert parameters.seed is None and parameters.temperature == 0


@pytest.mark.model
@pytest.mark.parametrize("temperature", [5e-324, 1e-308, 1e-5, 0.009, 2.0])
@pytest.mark.parametrize("seed", [0, MAX_SEED])
def test_every_temperature_and_seed_that_is_taken_is_one_of_the_engines(temperature: float, seed: int) -> None:
    from app.llm.vllm_engine.engine import _parameters

    parameters = _parameters(None, Sampling(max_tokens=1, temperature=temperature, seed=seed), in_pieces=False)

    assert parameters.seed == seed and 0 <= parameters.temperature <= 2
