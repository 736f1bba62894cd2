"""Asks OpenAI-compatible servers. The one place that retries: at most once, before any text, within a budget."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass

import aiohttp

from app.errors import CallFailed, EngineNotReady, EngineOverloaded, StartFailed
from app.llm.engine import ChatMessage, Generation, OutputSchema, Prompt, Sampling, TextListener
from app.llm.openai_engine.endpoints import WATCH_SECONDS, Endpoint, Endpoints
from app.llm.openai_engine.wire import Piece, bounded, finished, pieces, refusal, request_body, whole_answer

CONNECT_SECONDS = 2.0
SILENCE_SECONDS = 120.0
"""No check waits longer for a byte."""

RETRY_SHARE = 0.1
"""Of all calls. A fleet that fails more often is not helped by being asked twice."""

RETRY_BURST = 10.0


@dataclass(frozen=True)
class OpenAISettings:
    urls: tuple[str, ...]
    model: str
    """As the servers name it."""
    api_key: str | None = None
    start_seconds: float = 1800.0
    """A server that loads is waited for so long."""


class OpenAIEngine:
    def __init__(self, settings: OpenAISettings) -> None:
        self._settings = settings
        self._endpoints = Endpoints(settings.urls, settings.model)
        self._budget = RetryBudget()
        self._session: aiohttp.ClientSession | None = None
        self._watcher: asyncio.Task[None] | None = None

    @property
    def model(self) -> str:
        return self._settings.model

    async def start(self) -> None:
        """Returns once one server answers and has the model. Raises StartFailed."""
        key = self._settings.api_key
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=30, keepalive_timeout=30),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS, sock_read=SILENCE_SECONDS),
            headers={"Authorization": f"Bearer {key}"} if key else {},
            trust_env=False,
        )
        try:
            async with asyncio.timeout(self._settings.start_seconds):
                await self._one_is_up(self._session)
        except TimeoutError as error:
            raise StartFailed(
                f"no server of OPENAI_BASE_URL answered within {self._settings.start_seconds:g} s: "
                f"{self._endpoints.why_none()}"
            ) from error
        self._watcher = asyncio.create_task(self._endpoints.watch(self._session), name="endpoints-watch")

    async def _one_is_up(self, session: aiohttp.ClientSession) -> None:
        while True:
            await self._endpoints.look(session)
            with contextlib.suppress(EngineNotReady):
                self._endpoints.require_one()
                return
            await asyncio.sleep(WATCH_SECONDS)

    async def check(self) -> None:
        if self._session is None or self._session.closed:
            raise EngineNotReady("the engine is closed" if self._session else "the engine has not been started")
        self._endpoints.require_one()

    async def compile(self, schema: OutputSchema) -> None:
        """One token under the grammar: the server that answers keeps it, the others make it when they are asked."""
        prompt = Prompt("compile", "1", (ChatMessage("user", "{}"),))
        await self.generate(prompt, schema, Sampling(max_tokens=1))

    async def generate(
        self, prompt: Prompt, schema: OutputSchema | None, sampling: Sampling, on_text: TextListener | None = None
    ) -> Generation:
        await self.check()
        self._budget.earn()
        attempt = _Attempt(request_body(self.model, prompt, schema, sampling, in_pieces=on_text is not None), on_text)
        try:
            return await self._asked(attempt)
        except (EngineOverloaded, EngineNotReady, CallFailed):
            if attempt.has_text or not attempt.may_repeat or not self._budget.spend():
                raise
        return await self._asked(attempt)

    async def _asked(self, attempt: "_Attempt") -> Generation:
        assert self._session is not None
        with self._endpoints.least_busy(but=attempt.endpoint) as endpoint:
            attempt.endpoint, attempt.may_repeat = endpoint, True
            try:
                return await attempt.ask(self._session)
            except aiohttp.ClientConnectorError as error:
                self._endpoints.lost(endpoint, f"cannot be reached: {error}")
                raise EngineNotReady("the engine's server cannot be reached") from error
            except (aiohttp.ClientError, ConnectionError, TimeoutError) as error:
                raise CallFailed(f"the engine's server broke off the call: {type(error).__name__}") from error

    async def aclose(self) -> None:
        if self._watcher is not None:
            self._watcher.cancel()
            await asyncio.wait({self._watcher})
        if self._session is not None:
            await self._session.close()


class _Attempt:
    """One call, asked once or twice."""

    def __init__(self, body: dict[str, object], on_text: TextListener | None) -> None:
        self._body = body
        self._on_text = on_text
        self.endpoint: Endpoint | None = None
        self.has_text = False
        self.may_repeat = True

    async def ask(self, session: aiohttp.ClientSession) -> Generation:
        assert self.endpoint is not None
        started = time.perf_counter()
        async with session.post(f"{self.endpoint.url}/chat/completions", json=self._body) as answer:
            if answer.status != 200:
                error = refusal(answer.status, await bounded(answer))
                self.may_repeat = answer.status in (429, 500, 502, 503, 504)
                raise error
            return await self._generation(answer, started)

    async def _generation(self, answer: aiohttp.ClientResponse, started: float) -> Generation:
        text, last = "", Piece()
        prompt_tokens = completion_tokens = 0
        async for piece in self._pieces(answer):
            text += piece.text
            last = piece if piece.finish_reason else last
            prompt_tokens = piece.prompt_tokens or prompt_tokens
            completion_tokens = piece.completion_tokens or completion_tokens
            if self._on_text is not None and piece.text:
                self.has_text = True
                self._on_text(piece.text)
        milliseconds = (time.perf_counter() - started) * 1000
        return Generation(text, finished(last.finish_reason), prompt_tokens, completion_tokens, milliseconds)

    async def _pieces(self, answer: aiohttp.ClientResponse) -> AsyncIterator[Piece]:
        if self._on_text is None:
            yield await whole_answer(answer)
            return
        async for piece in pieces(answer):
            yield piece


class RetryBudget:
    """Each call earns a share of a retry; so many may be saved up."""

    def __init__(self, share: float = RETRY_SHARE, burst: float = RETRY_BURST) -> None:
        self._share = share
        self._burst = burst
        self._saved = burst

    def earn(self) -> None:
        self._saved = min(self._burst, self._saved + self._share)

    def spend(self) -> bool:
        """Whether there was one to spend."""
        if self._saved < 1:
            return False
        self._saved -= 1
        return True
