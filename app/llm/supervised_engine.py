"""An engine that is started again when it has died or makes no progress, and refuses at once meanwhile."""

import asyncio
import contextlib
import logging
import random
import time
from collections.abc import Callable

from app.errors import EngineLost, EngineNotReady
from app.llm.engine import Engine, Generation, OutputSchema, Prompt, Sampling, TextListener

logger = logging.getLogger(__name__)

WATCH_SECONDS = 1.0
BACK_OFF_SECONDS = (1.0, 60.0)
"""The first wait before a start, doubled with each, up to the last."""
MOST_DOUBLINGS = 16
"""Enough for any last wait; a power that grows for a day no longer fits a float."""
CLOSE_SECONDS = 60.0
"""A lost engine's end is waited for this long; the next one is started whatever became of it."""
STEADY_SECONDS = 300.0
"""An engine that has lived this long is not blamed for the one before it."""
JITTER = 0.2

Restarted = Callable[[str], None]
"""Hears why an engine was given up: died or stalled."""


class SupervisedEngine:
    """Keeps the engine contract around one engine at a time, each made by `build`.

    Calls that wait for an engine when it is given up raise EngineNotReady at once, whatever the engine does with them.
    The first start raises what it raises; a later one that fails is tried again, with growing waits, and never ends the
    service. Grammars that were compiled are compiled again before the new engine is asked anything.
    """

    def __init__(
        self,
        build: Callable[[], Engine],
        on_lost: Restarted = lambda reason: None,
        *,
        watch_seconds: float = WATCH_SECONDS,
        back_off_seconds: tuple[float, float] = BACK_OFF_SECONDS,
        close_seconds: float = CLOSE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._build = build
        self._on_lost = on_lost
        self._watch_seconds = watch_seconds
        self._back_off_seconds = back_off_seconds
        self._close_seconds = close_seconds
        self._clock = clock
        self._engine = build()
        self._away = ""
        """Why nobody is asked; empty while the engine can be."""
        self._restarts = 0
        self._calls: set[asyncio.Task[Generation]] = set()
        self._schemas: dict[str, OutputSchema] = {}
        self._failures = 0
        self._started_at = clock()
        self._watcher: asyncio.Task[None] | None = None

    @property
    def model(self) -> str:
        return self._engine.model

    @property
    def is_restarting(self) -> bool:
        return bool(self._away)

    @property
    def is_up(self) -> bool:
        """False before the first start has ended, and while another engine is started."""
        return self._watcher is not None and not self._away

    async def start(self) -> None:
        await self._engine.start()
        self._started_at = self._clock()
        self._watcher = asyncio.create_task(self._watch(), name="engine-supervisor")

    async def compile(self, schema: OutputSchema) -> None:
        await self._require().compile(schema)
        self._schemas[schema.sha256] = schema

    async def generate(
        self, prompt: Prompt, schema: OutputSchema | None, sampling: Sampling, on_text: TextListener | None = None
    ) -> Generation:
        call = asyncio.create_task(self._require().generate(prompt, schema, sampling, on_text))
        self._calls.add(call)
        call.add_done_callback(self._calls.discard)
        try:
            return await call
        except asyncio.CancelledError:
            if not _is_cancelled():
                self._require()
            raise

    async def check(self) -> None:
        await self._require().check()

    async def aclose(self) -> None:
        if self._watcher is not None:
            self._watcher.cancel()
            await asyncio.wait({self._watcher})
        await self._engine.aclose()

    def _require(self) -> Engine:
        if self._away:
            raise EngineNotReady(self._away)
        return self._engine

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(self._watch_seconds)
            try:
                await self._engine.check()
            except EngineLost as error:
                await self._replace(error.reason)
            except EngineNotReady:
                continue

    async def _replace(self, reason: str) -> None:
        self._restarts += 1
        self._give_up(reason)
        if self._clock() - self._started_at > STEADY_SECONDS:
            self._failures = 0
        await self._closed()
        while not await self._started_anew():
            self._failures += 1
        self._failures += 1
        self._started_at = self._clock()
        self._away = ""
        logger.info("engine.restarted", extra={"restarts": self._restarts})

    def _give_up(self, reason: str) -> None:
        self._away = f"the engine {reason} and is being started again (restart {self._restarts})"
        logger.error("engine.lost", extra={"reason": reason})
        self._on_lost(reason)
        for call in tuple(self._calls):
            call.cancel()

    async def _started_anew(self) -> bool:
        """Whatever goes wrong is the next try's affair: a service without an engine waits for nothing else."""
        first, longest = self._back_off_seconds
        wait = min(first * 2 ** min(self._failures, MOST_DOUBLINGS), longest)
        await asyncio.sleep(wait * random.uniform(1 - JITTER, 1 + JITTER))  # noqa: S311 - nothing secret
        try:
            self._engine = self._build()
            await self._engine.start()
            for schema in self._schemas.values():
                await self._engine.compile(schema)
        except Exception as error:  # noqa: BLE001
            logger.error("engine.restart_failed", extra={"reason": str(error) or type(error).__name__})
            await self._closed()
            return False
        return True

    async def _closed(self) -> None:
        """A broken engine may be broken in its closing too; the next start tidies up after it."""
        with contextlib.suppress(Exception):
            async with asyncio.timeout(self._close_seconds):
                await self._engine.aclose()


def _is_cancelled() -> bool:
    """Whether it is the caller who was told to stop, and not only the call that he waits for."""
    caller = asyncio.current_task()
    return caller is not None and caller.cancelling() > 0
