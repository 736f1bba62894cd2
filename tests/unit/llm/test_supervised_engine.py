"""A lost engine is replaced, and nobody waits for one that is gone."""

import asyncio
from collections.abc import Callable
from typing import Literal

import pytest

from app.errors import EngineLost, EngineNotReady, StartFailed
from app.llm.engine import ChatMessage, Engine, Generation, OutputSchema, Prompt, Sampling, TextListener
from app.llm.supervised_engine import SupervisedEngine

SCHEMA = OutputSchema("thing", {"type": "object"})
PROMPT = Prompt("p", "1", (ChatMessage("user", "Hello"),))
SAMPLING = Sampling(max_tokens=1)
NO_MEMORY = StartFailed("no memory")
Fate = Literal["starts", "loads for ever"] | Exception


class FakeEngine:
    """One life: it may fail to start, load for ever, be asked and not answer, and is lost when told."""

    def __init__(self, number: int, fate: Fate) -> None:
        self.model = f"engine {number}"
        self.lost: Literal["died", "stalled"] | None = None
        self.closed = False
        self.compiled: list[str] = []
        self.is_silent = False
        self.ends = True
        self.asked = 0
        self.left = 0
        self._fate = fate

    async def start(self) -> None:
        if isinstance(self._fate, Exception):
            raise self._fate
        if self._fate == "loads for ever":
            await asyncio.Event().wait()

    async def compile(self, schema: OutputSchema) -> None:
        self.compiled.append(schema.name)

    async def generate(
        self, prompt: Prompt, schema: OutputSchema | None, sampling: Sampling, on_text: TextListener | None = None
    ) -> Generation:
        await self.check()
        self.asked += 1
        try:
            if self.is_silent:
                await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.left += 1
            raise
        return Generation(self.model, "stop", 1, 1, 1.0)

    async def check(self) -> None:
        if self.lost:
            raise EngineLost("gone", self.lost)

    async def aclose(self) -> None:
        if not self.ends:
            await asyncio.Event().wait()
        self.closed = True


class Factory:
    """Makes engines one after the other, each with its fate; those after the last named one start."""

    def __init__(self, *fates: Fate) -> None:
        self.made: list[FakeEngine] = []
        self._fates = list(fates)

    def __call__(self) -> Engine:
        self.made.append(FakeEngine(len(self.made) + 1, self._fates.pop(0) if self._fates else "starts"))
        return self.made[-1]


def supervised(factory: Callable[[], Engine], lost: list[str], back_off: float = 0.001) -> SupervisedEngine:
    return SupervisedEngine(factory, lost.append, watch_seconds=0.001, back_off_seconds=(back_off, back_off))


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.001)


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
    await until(lambda: engine.is_restarting)

    with pytest.raises(EngineNotReady, match=r"died and is being started again \(restart 1\)"):
        await engine.generate(PROMPT, None, SAMPLING)
    with pytest.raises(EngineNotReady, match=r"died and is being started again \(restart 1\)"):
        await engine.check()
    assert not engine.is_up

    await engine.aclose()


async def test_a_start_that_fails_is_tried_again() -> None:
    factory = Factory("starts", NO_MEMORY, NO_MEMORY)
    engine = supervised(factory, [])
    await engine.start()

    factory.made[0].lost = "died"
    await until_it_answers(engine, "engine 4")

    assert [one.closed for one in factory.made] == [True, True, True, False]
    await engine.aclose()


async def test_the_first_start_says_why_it_fails() -> None:
    engine = supervised(Factory(NO_MEMORY), [])

    with pytest.raises(StartFailed, match="no memory"):
        await engine.start()

    await engine.aclose()


async def test_closing_ends_an_engine_that_is_being_replaced() -> None:
    factory = Factory()
    engine = supervised(factory, [], back_off=60.0)
    await engine.start()
    factory.made[0].lost = "stalled"
    await until(lambda: engine.is_restarting)

    await engine.aclose()

    assert all(one.closed for one in factory.made)


async def test_closing_ends_an_engine_that_is_still_loading() -> None:
    factory = Factory("starts", "loads for ever")
    engine = supervised(factory, [])
    await engine.start()
    factory.made[0].lost = "died"
    await until(lambda: len(factory.made) == 2)

    await engine.aclose()

    assert all(one.closed for one in factory.made)


async def test_nobody_waits_for_an_engine_that_is_still_loading() -> None:
    factory = Factory("starts", "loads for ever")
    engine = supervised(factory, [])
    await engine.start()
    factory.made[0].lost = "died"
    await until(lambda: len(factory.made) == 2)

    with pytest.raises(EngineNotReady):
        await engine.generate(PROMPT, None, SAMPLING)

    assert factory.made[1].asked == 0
    await engine.aclose()


@pytest.mark.parametrize("reason", ["died", "stalled"])
async def test_calls_in_flight_end_when_their_engine_is_lost(reason: Literal["died", "stalled"]) -> None:
    factory = Factory()
    engine = supervised(factory, [], back_off=60.0)
    await engine.start()
    factory.made[0].is_silent = True
    calls = [asyncio.create_task(engine.generate(PROMPT, None, SAMPLING)) for _ in range(3)]
    await until(lambda: factory.made[0].asked == 3)

    factory.made[0].lost = reason

    async with asyncio.timeout(30):
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [EngineNotReady] * 3
    assert all(reason in str(outcome) for outcome in outcomes)
    await engine.aclose()


async def test_a_caller_who_leaves_is_cancelled_and_so_is_the_work_behind_him() -> None:
    factory = Factory()
    engine = supervised(factory, [])
    await engine.start()
    factory.made[0].is_silent = True
    call = asyncio.create_task(engine.generate(PROMPT, None, SAMPLING))
    await until(lambda: factory.made[0].asked)

    call.cancel()
    await asyncio.wait({call})

    assert call.cancelled()
    assert factory.made[0].left == 1
    await engine.aclose()


async def test_a_deadline_over_a_call_stays_a_deadline() -> None:
    factory = Factory()
    engine = supervised(factory, [])
    await engine.start()
    factory.made[0].is_silent = True

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await engine.generate(PROMPT, None, SAMPLING)

    await engine.aclose()


async def test_a_start_that_fails_in_an_unforeseen_way_is_tried_again_too() -> None:
    factory = Factory("starts", OSError("no space left on device"), RuntimeError())
    engine = supervised(factory, [])
    await engine.start()

    factory.made[0].lost = "died"
    await until_it_answers(engine, "engine 4")

    await engine.aclose()


async def test_an_engine_that_cannot_even_be_made_is_made_again() -> None:
    made = Factory()
    failures = [OSError("no file descriptors")]

    def build() -> Engine:
        if made.made and failures:
            raise failures.pop()
        return made()

    engine = supervised(build, [])
    await engine.start()

    made.made[0].lost = "died"
    await until_it_answers(engine, "engine 2")

    await engine.aclose()


async def test_an_engine_that_cannot_be_ended_does_not_keep_the_next_from_starting() -> None:
    factory = Factory()
    engine = SupervisedEngine(factory, watch_seconds=0.001, back_off_seconds=(0.001, 0.001), close_seconds=0.01)
    await engine.start()
    factory.made[0].ends = False

    factory.made[0].lost = "stalled"
    await until_it_answers(engine, "engine 2")

    await engine.aclose()


async def test_after_a_day_of_starts_that_failed_the_next_is_tried() -> None:
    starts = 1100
    factory = Factory("starts", *[NO_MEMORY] * starts)
    engine = supervised(factory, [], back_off=1e-9)
    await engine.start()

    factory.made[0].lost = "died"
    await until_it_answers(engine, f"engine {starts + 2}")

    await engine.aclose()


async def test_an_engine_that_has_lived_long_is_replaced_as_quickly_as_the_first() -> None:
    seconds = iter(range(0, 1_000_000, 1000))
    factory = Factory()
    engine = SupervisedEngine(
        factory, watch_seconds=0.001, back_off_seconds=(0.001, 600.0), clock=lambda: float(next(seconds))
    )
    await engine.start()

    # The wait doubles with each loss: without a new beginning the last would be over two minutes.
    for number in range(1, 19):
        factory.made[-1].lost = "died"
        await until_it_answers(engine, f"engine {number + 1}")

    await engine.aclose()
