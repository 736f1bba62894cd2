"""An engine that is started again when it has died or makes no progress, and refuses at once meanwhile."""

import asyncio
import contextlib
import logging
import random
import time
from collections.abc import Callable

from app.errors import EngineLost, EngineNotReady
from app.llm.engine import Engine, Generation, OutputSchema, Prompt, Sampling

logger = logging.getLogger(__name__)

WATCH_SECONDS = 1.0
BACK_OFF_SECONDS = (1.0, 60.0)
"""The first wait before a start, doubled with each, up to the last."""
STEADY_SECONDS = 300.0
"""An engine that has lived this long is not blamed for the one before it."""
JITTER = 0.2

Restarted = Callable[[str], None]
"""Hears why an engine was given up: died or stalled."""


class SupervisedEngine:
    """Keeps the engine contract around one engine at a time, each made by `build`.

    Calls that wait for an engine when it is given up raise EngineLost at once, whatever the engine does with them.
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
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._build = build
        self._on_lost = on_lost
        self._watch_seconds = watch_seconds
        self._back_off_seconds = back_off_seconds
        self._clock = clock
        self._engine = build()
        self._lost: EngineLost | None = None
        """Why nobody is asked; None while the engine can be."""
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
        return self._lost is not None

    @property
    def is_up(self) -> bool:
        """False before the first start has ended, and while another engine is started."""
        return self._watcher is not None and self._lost is None

    async def start(self) -> None:
        await self._engine.start()
        self._started_at = self._clock()
        self._watcher = asyncio.create_task(self._watch(), name="engine-supervisor")

    async def compile(self, schema: OutputSchema) -> None:
        await self._require().compile(schema)
        self._schemas[schema.sha256] = schema

    async def generate(self, prompt: Prompt, schema: OutputSchema | None, sampling: Sampling) -> Generation:
        call = asyncio.create_task(self._require().generate(prompt, schema, sampling))
        self._calls.add(call)
        call.add_done_callback(self._calls.discard)
        try:
            return await call
        except asyncio.CancelledError:
            if self._lost is not None and call.cancelled():
                raise self._lost from None
            call.cancel()
            raise

    async def check(self) -> None:
        await self._require().check()

    async def aclose(self) -> None:
        if self._watcher is not None:
            self._watcher.cancel()
            await asyncio.wait({self._watcher})
        await self._engine.aclose()

    def _require(self) -> Engine:
        if self._lost is not None:
            raise EngineNotReady(str(self._lost))
        return self._engine

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(self._watch_seconds)
            try:
                await self._engine.check()
            except EngineLost as error:
                await self._replace(error)
            except EngineNotReady:
                continue

    async def _replace(self, lost: EngineLost) -> None:
        self._restarts += 1
        self._give_up(lost)
        if self._clock() - self._started_at > STEADY_SECONDS:
            self._failures = 0
        await _closed(self._engine)
        while not await self._started_anew():
            self._failures += 1
        self._failures += 1
        self._started_at = self._clock()
        self._lost = None
        logger.info("engine.restarted", extra={"restarts": self._restarts})

    def _give_up(self, lost: EngineLost) -> None:
        reason = lost.reason
        self._lost = EngineLost(f"the engine {reason} and is being started again (restart {self._restarts})", reason)
        logger.error("engine.lost", extra={"reason": reason})
        for call in tuple(self._calls):
            call.cancel()
        self._on_lost(reason)

    async def _started_anew(self) -> bool:
        """Whatever goes wrong is the next try's affair: a service without an engine waits for nothing else."""
        first, longest = self._back_off_seconds
        wait = min(first * 2**self._failures, longest)
        await asyncio.sleep(wait * random.uniform(1 - JITTER, 1 + JITTER))  # noqa: S311 - nothing secret
        try:
            self._engine = self._build()
            await self._engine.start()
            for schema in self._schemas.values():
                await self._engine.compile(schema)
        except Exception as error:  # noqa: BLE001
            logger.error("engine.restart_failed", extra={"reason": str(error) or type(error).__name__})
            await _closed(self._engine)
            return False
        return True


async def _closed(engine: Engine) -> None:
    """A broken engine may be broken in its closing too; the next start tidies up after it."""
    with contextlib.suppress(Exception):
        await engine.aclose()
