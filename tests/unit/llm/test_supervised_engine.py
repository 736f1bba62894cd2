"""A lost engine is replaced, and nobody waits for one that is gone."""

import asyncio
from typing import Literal

import pytest

from app.errors import EngineLost, EngineNotReady, StartFailed
from app.llm.engine import ChatMessage, Engine, Generation, OutputSchema, Prompt, Sampling
from app.llm.supervised_engine import SupervisedEngine

SCHEMA = OutputSchema("thing", {"type": "object"})
PROMPT = Prompt("p", "1", (ChatMessage("user", "Hello"),))
SAMPLING = Sampling(max_tokens=1)


class FakeEngine:
    """One life: it may fail to start, and is lost when told."""

    def __init__(self, number: int, starts: bool) -> None:
        self.model = f"engine {number}"
        self.lost: Literal["died", "stalled"] | None = None
        self.closed = False
        self.compiled: list[str] = []
        self._starts = starts

    async def start(self) -> None:
        if not self._starts:
            raise StartFailed("no memory")

    async def compile(self, schema: OutputSchema) -> None:
        self.compiled.append(schema.name)

    async def generate(self, prompt: Prompt, schema: OutputSchema | None, sampling: Sampling) -> Generation:
        await self.check()
        return Generation(self.model, "stop", 1, 1, 1.0)

    async def check(self) -> None:
        if self.lost:
            raise EngineLost("gone", self.lost)

    async def aclose(self) -> None:
        self.closed = True


class Factory:
    """Makes engines one after the other; `starts` says which of them can start."""

    def __init__(self, *starts: bool) -> None:
        self.made: list[FakeEngine] = []
        self._starts = list(starts)

    def __call__(self) -> Engine:
        starts = self._starts.pop(0) if self._starts else True
        self.made.append(FakeEngine(len(self.made) + 1, starts))
        return self.made[-1]


def supervised(factory: Factory, lost: list[str], back_off: float = 0.001) -> SupervisedEngine:
    return SupervisedEngine(factory, lost.append, watch_seconds=0.001, back_off_seconds=(back_off, back_off))


async def until_it_answers(engine: SupervisedEngine, name: str) -> None:
    async with asyncio.timeout(30):
        while True:
            try:
                if (await engine.generate(PROMPT, None, SAMPLING)).text == name:
                    return
            except EngineNotReady:
                pass
            await asyncio.sleep(0.001)


@pytest.mark.parametrize("reason", ["died", "stalled"])
async def test_a_lost_engine_is_closed_and_another_answers(reason: Literal["died", "stalled"]) -> None:
    factory, lost = Factory(), []
    engine = supervised(factory, lost)
    await engine.start()

    factory.made[0].lost = reason
    await until_it_answers(engine, "engine 2")

    assert factory.made[0].closed
    assert lost == [reason]
    await engine.aclose()
    assert factory.made[1].closed


async def test_grammars_are_compiled_again_before_the_new_engine_is_asked() -> None:
    factory = Factory()
    engine = supervised(factory, [])
    await engine.start()
    await engine.compile(SCHEMA)

    factory.made[0].lost = "died"
    await until_it_answers(engine, "engine 2")

    assert factory.made[1].compiled == ["thing"]
    await engine.aclose()


async def test_nobody_is_asked_while_an_engine_is_started_again() -> None:
    factory = Factory()
    engine = supervised(factory, [], back_off=60.0)
    await engine.start()
    factory.made[0].lost = "died"
    while not engine.is_restarting:
        await asyncio.sleep(0.001)

    with pytest.raises(EngineNotReady, match="being started again"):
        await engine.generate(PROMPT, None, SAMPLING)
    with pytest.raises(EngineNotReady, match="being started again"):
        await engine.check()

    await engine.aclose()


async def test_a_start_that_fails_is_tried_again() -> None:
    factory = Factory(True, False, False, True)
    engine = supervised(factory, [])
    await engine.start()

    factory.made[0].lost = "died"
    await until_it_answers(engine, "engine 4")

    assert [one.closed for one in factory.made] == [True, True, True, False]
    await engine.aclose()


async def test_the_first_start_says_why_it_fails() -> None:
    engine = supervised(Factory(False), [])

    with pytest.raises(StartFailed, match="no memory"):
        await engine.start()

    await engine.aclose()


async def test_closing_ends_an_engine_that_is_being_replaced() -> None:
    factory = Factory()
    engine = supervised(factory, [], back_off=60.0)
    await engine.start()
    factory.made[0].lost = "stalled"
    while not engine.is_restarting:
        await asyncio.sleep(0.001)

    await engine.aclose()

    assert all(one.closed for one in factory.made)
