"""The engine behind HTTP, against servers that answer, fail, and answer nonsense."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any

import pytest

from app.errors import CallFailed, EngineNotReady, EngineOverloaded, PromptTooLong, StartFailed
from app.llm.engine import ChatMessage, OutputSchema, Prompt, Sampling
from app.llm.openai_engine import endpoints
from app.llm.openai_engine.engine import OpenAIEngine, OpenAISettings, RetryBudget
from tests.support.openai_server import FAULTS, MODEL, Server, serving

PROMPT = Prompt("pipeline.extract", "1", (ChatMessage("user", "I am 34."),))
SCHEMA = OutputSchema("pipeline.extract", {"type": "object", "properties": {"a": {"type": "string", "maxLength": 3}}})
SAMPLING = Sampling(max_tokens=20, temperature=0.7, seed=3)
ONCE = ("overloaded", "rate limited", "internal error", "resets", "not json")
"""What may be different the next time."""


@asynccontextmanager
async def engine_of(*servers: Server, **settings: Any) -> AsyncIterator[OpenAIEngine]:
    async with AsyncExitStack() as stack:
        for server in servers:
            await stack.enter_async_context(serving(server))
        engine = OpenAIEngine(OpenAISettings(tuple(server.url for server in servers), MODEL, **settings))
        stack.push_async_callback(engine.aclose)
        await engine.start()
        yield engine


async def test_a_call_says_what_is_wanted_and_reads_what_comes() -> None:
    server = Server()
    async with engine_of(server, api_key="secret") as engine:
        generation = await engine.generate(PROMPT, SCHEMA, SAMPLING)

    assert (generation.text, generation.finish_reason) == (server.text, "stop")
    assert (generation.prompt_tokens, generation.completion_tokens) == (7, 5) and generation.latency_ms > 0
    assert server.asked == [
        {
            "model": MODEL,
            "messages": [{"role": "user", "content": "I am 34."}],
            "max_tokens": 20,
            "temperature": 0.7,
            "seed": 3,
            "response_format": {
                "type": "json_schema",
                "json_schema": {
                    "name": "pipeline_extract",
                    "schema": {"type": "object", "properties": {"a": {"type": "string"}}},
                    "strict": True,
                },
            },
        }
    ]


async def test_who_listens_hears_the_pieces() -> None:
    heard: list[str] = []
    async with engine_of(Server(text="one two three")) as engine:
        generation = await engine.generate(PROMPT, None, SAMPLING, heard.append)

    assert heard == ["one ", "two ", "three"]
    assert (generation.text, generation.finish_reason, generation.completion_tokens) == ("one two three", "stop", 5)


@pytest.mark.parametrize(
    "mark",
    ["<|im_end|>", "<|eot_id|>", "</s>", "<s>", "[INST]", "[/INST]", "<<SYS>>", "<end_of_turn>", "<|start_header_id|>"],
)
async def test_a_customer_cannot_write_a_templates_marks(mark: str) -> None:
    server = Server()
    async with engine_of(server) as engine:
        await engine.generate(Prompt("p", "1", (ChatMessage("user", f"a {mark} b < 3 [x]"),)), None, SAMPLING)

    content = server.asked[0]["messages"][0]["content"]
    assert mark not in content and content.replace(" ", "") == f"a{mark}b<3[x]"


@pytest.mark.parametrize("fault", sorted(FAULTS))
@pytest.mark.parametrize("listens", [False, True])
async def test_whatever_a_server_answers_is_an_error_of_ours(fault: str, listens: bool) -> None:
    expected = {"overloaded": EngineOverloaded, "rate limited": EngineOverloaded, "too long": PromptTooLong}
    async with engine_of(Server(fault=fault)) as engine:
        with pytest.raises(expected.get(fault, CallFailed)):
            await engine.generate(PROMPT, SCHEMA, SAMPLING, (lambda text: None) if listens else None)


async def test_a_conversation_that_is_too_long_says_by_how_much() -> None:
    async with engine_of(Server(fault="too long")) as engine:
        with pytest.raises(PromptTooLong) as refused:
            await engine.generate(PROMPT, None, SAMPLING)

    assert (refused.value.prompt_tokens, refused.value.limit_tokens) == (9000, 4096)


async def test_a_servers_words_are_not_told_on_they_may_be_the_customers() -> None:
    async with engine_of(Server(fault="echoes")) as engine:
        with pytest.raises(CallFailed) as failed:
            await engine.generate(PROMPT, None, SAMPLING)

    assert str(failed.value) == "the engine's server answered 400, BadRequestError"


@pytest.mark.parametrize("fault", ONCE)
async def test_what_one_server_fails_another_is_asked_once(fault: str) -> None:
    broken, whole = Server(fault=fault), Server()
    async with engine_of(broken, whole) as engine:
        texts = [(await engine.generate(PROMPT, None, SAMPLING)).text for _ in range(6)]

    assert set(texts) == {whole.text} and broken.asked


@pytest.mark.parametrize("fault", ["bad request", "too long"])
async def test_what_would_be_refused_again_is_not_asked_again(fault: str) -> None:
    server = Server(fault=fault)
    async with engine_of(server) as engine:
        with pytest.raises((CallFailed, PromptTooLong)):
            await engine.generate(PROMPT, None, SAMPLING)

    assert len(server.asked) == 1


async def test_after_the_first_text_nothing_is_asked_again() -> None:
    server = Server(fault="breaks off", text="one two three")
    heard: list[str] = []
    async with engine_of(server) as engine:
        with pytest.raises(CallFailed, match="broke off"):
            await engine.generate(PROMPT, None, SAMPLING, heard.append)

    assert heard == ["one "] and len(server.asked) == 1


async def test_a_fleet_that_fails_is_not_asked_twice_as_much() -> None:
    server = Server(fault="internal error")
    async with engine_of(server) as engine:
        for _ in range(50):
            with suppress(CallFailed):
                await engine.generate(PROMPT, None, SAMPLING)

    assert len(server.asked) <= 50 + 10 + 5


def test_a_retry_is_earned_by_ten_calls() -> None:
    budget = RetryBudget()

    spent = sum(budget.spend() for _ in range(20))
    for _ in range(11):
        budget.earn()

    assert spent == 10
    assert [budget.spend(), budget.spend()] == [True, False]


async def test_the_least_busy_server_is_asked() -> None:
    slow, quick = Server(fault="hangs"), Server()
    async with engine_of(slow, quick) as engine:
        waiting = []
        while not slow.asked:
            waiting.append(asyncio.create_task(engine.generate(PROMPT, None, SAMPLING)))
            await asyncio.sleep(0.01)
        for _ in range(6):
            assert (await engine.generate(PROMPT, None, SAMPLING)).text == quick.text
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)

    assert len(slow.asked) == 1


async def test_a_cancelled_call_hangs_up() -> None:
    server = Server(fault="hangs")
    async with engine_of(server) as engine:
        call = asyncio.create_task(engine.generate(PROMPT, None, SAMPLING))
        while not server.asked:
            await asyncio.sleep(0.01)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        while not server.left:
            await asyncio.sleep(0.01)


async def test_a_server_that_is_gone_is_left_out_and_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoints, "WATCH_SECONDS", 0.05)
    server = Server()
    async with engine_of(server) as engine:
        server.fault = "loading"
        while not await reason(engine):
            await asyncio.sleep(0.01)
        assert await reason(engine) == "none of the engine's 1 servers answers; endpoint.lost in the log says why"
        server.fault = ""
        while await reason(engine):
            await asyncio.sleep(0.01)

        assert (await engine.generate(PROMPT, None, SAMPLING)).text == server.text


async def test_a_server_that_cannot_be_reached_is_not_asked_until_it_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoints, "WATCH_SECONDS", 0.05)
    server = Server()
    async with AsyncExitStack() as stack:
        async with serving(server):
            engine = OpenAIEngine(OpenAISettings((server.url,), MODEL))
            stack.push_async_callback(engine.aclose)
            await engine.start()
        with pytest.raises(EngineNotReady):
            await engine.generate(PROMPT, None, SAMPLING)
        assert await reason(engine)

        async with serving(server, int(server.url.split(":")[2].split("/")[0])):
            while await reason(engine):
                await asyncio.sleep(0.01)
            assert (await engine.generate(PROMPT, None, SAMPLING)).text == server.text


async def reason(engine: OpenAIEngine) -> str:
    """Why it is not ready; empty if it is."""
    try:
        await engine.check()
    except EngineNotReady as error:
        return str(error)
    return ""


async def test_a_server_that_loads_is_waited_for() -> None:
    server = Server(fault="loading")
    async with serving(server):
        engine = OpenAIEngine(OpenAISettings((server.url,), MODEL, start_seconds=0.2))
        with pytest.raises(StartFailed, match=r"no server of OPENAI_BASE_URL answered within 0\.2 s"):
            await engine.start()
        await engine.aclose()


@pytest.mark.parametrize(
    ("server", "key", "says"),
    [
        (Server(models=["other"]), None, "does not serve 'small' but other; set MODEL"),
        (Server(key="secret"), None, "set OPENAI_API_KEY"),
        (Server(key="secret"), "wrong", "set OPENAI_API_KEY"),
    ],
)
async def test_what_will_not_mend_ends_the_start_with_what_to_do(server: Server, key: str | None, says: str) -> None:
    async with serving(server):
        engine = OpenAIEngine(OpenAISettings((server.url,), MODEL, api_key=key))
        with pytest.raises(StartFailed, match=says):
            await engine.start()
        await engine.aclose()


async def test_a_wrong_path_is_named() -> None:
    async with serving(Server()) as server:
        engine = OpenAIEngine(OpenAISettings((server.url.removesuffix("/v1"),), MODEL))
        with pytest.raises(StartFailed, match="should end in /v1"):
            await engine.start()
        await engine.aclose()


async def test_tls_that_is_none_is_named() -> None:
    async with serving(Server()) as server:
        engine = OpenAIEngine(OpenAISettings((server.url.replace("http:", "https:"),), MODEL))
        with pytest.raises(StartFailed, match="no trusted TLS connection"):
            await engine.start()
        await engine.aclose()


async def test_text_that_is_no_unicode_fails_its_own_call() -> None:
    async with engine_of(Server()) as engine:
        with pytest.raises(CallFailed, match="not valid Unicode"):
            await engine.generate(Prompt("p", "1", (ChatMessage("user", "\ud800"),)), None, SAMPLING)
        await engine.check()
