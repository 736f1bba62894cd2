"""Both engines under one name, each supervised as the service runs it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.llm.engine import Engine, OutputSchema, Prompt, Sampling
from app.llm.models import SMOLLM2_135M
from app.llm.scripted_engine import ScriptedEngine
from app.llm.supervised_engine import SupervisedEngine


def say_something(prompt: Prompt, schema: OutputSchema | None, sampling: Sampling) -> str:
    return '{"first":true,"second":2,"third":"x"}' if schema else "something"


@pytest.fixture(scope="package")
async def small_engine(cache_dir: Path) -> AsyncIterator[Engine]:
    """vLLM with a model of 135 million parameters: real and quick, too weak to extract anything."""
    from app.llm.vllm_engine.engine import VllmEngine
    from app.llm.vllm_engine.run_dir import new_run_dir
    from app.llm.vllm_engine.settings import VllmSettings
    from app.llm.weights import ensure_weights

    weights = ensure_weights(SMOLLM2_135M.name, "cpu", cache_dir)
    settings = VllmSettings(weights.folder, weights.name, "cpu", new_run_dir(), max_running=64)
    engine = SupervisedEngine(lambda: VllmEngine(settings))
    await engine.start()
    yield engine
    await engine.aclose()


@pytest.fixture
async def scripted_engine() -> AsyncIterator[Engine]:
    scripted = SupervisedEngine(lambda: ScriptedEngine(say_something))
    await scripted.start()
    yield scripted
    await scripted.aclose()


@pytest.fixture(params=["scripted_engine", pytest.param("small_engine", marks=pytest.mark.model)])
def engine(request: pytest.FixtureRequest) -> Engine:
    chosen: Engine = request.getfixturevalue(request.param)
    return chosen


@pytest.fixture
async def closable_engine() -> Engine:
    """Closing the shared vLLM engine would end every later test; its closing is tested by tests/e2e."""
    scripted = ScriptedEngine(say_something)
    await scripted.start()
    return scripted
