"""The end of an engine, of which nothing was started but its folder."""

import asyncio
from pathlib import Path

from app.errors import EngineNotReady
from app.llm.vllm_engine.engine import VllmEngine
from app.llm.vllm_engine.run_dir import make_run_dir
from app.llm.vllm_engine.settings import VllmSettings


def an_engine(tmp_path: Path) -> VllmEngine:
    run_dir = tmp_path / "run"
    make_run_dir(run_dir)
    return VllmEngine(VllmSettings(tmp_path, "a model", "cpu", run_dir, max_running=1))


async def test_an_end_that_nobody_waits_for_any_more_goes_on(tmp_path: Path) -> None:
    engine = an_engine(tmp_path)
    impatient = asyncio.create_task(engine.aclose())
    await asyncio.sleep(0)
    impatient.cancel()
    await asyncio.wait({impatient})

    await engine.aclose()

    assert impatient.cancelled()
    assert not (tmp_path / "run").exists()


async def test_an_engine_that_is_being_ended_is_not_ready(tmp_path: Path) -> None:
    engine = an_engine(tmp_path)

    await engine.aclose()

    try:
        await engine.check()
    except EngineNotReady as error:
        assert "closed" in str(error)
    else:
        raise AssertionError("it is closed")
