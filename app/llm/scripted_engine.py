"""Replies from a function or a file, after a settable delay: for frontends, tests and load."""

import asyncio
import dataclasses
import json
import re
import time
from collections.abc import Callable
from pathlib import Path

from app.errors import CallFailed, EngineNotReady, StartFailed
from app.llm.engine import Generation, OutputSchema, Prompt, Sampling, TextListener

_PIECES = re.compile(r"\S+\s*|\s+")
"""What is heard at a time: about a word."""

Reply = Callable[[Prompt, OutputSchema | None, Sampling], str | Generation]
"""Text is wrapped as a whole answer; a Generation is passed on as it is; a raised EngineError is raised."""


class ScriptedEngine:
    """Keeps the engine contract without a model.

    `reply` decides what is said; it sees exactly what a model would see.
    """

    def __init__(self, reply: Reply, latency_seconds: float = 0.0, model: str = "scripted") -> None:
        self._reply = reply
        self._latency_seconds = latency_seconds
        self._model = model
        self._state = "it has not been started"

    @property
    def model(self) -> str:
        return self._model

    async def start(self) -> None:
        self._state = ""

    async def compile(self, schema: OutputSchema) -> None:
        await self.check()

    async def generate(
        self, prompt: Prompt, schema: OutputSchema | None, sampling: Sampling, on_text: TextListener | None = None
    ) -> Generation:
        await self.check()
        started = time.perf_counter()
        if on_text is None:
            await asyncio.sleep(self._latency_seconds)
            return self._generation(prompt, self._reply(prompt, schema, sampling), started)
        generation = self._generation(prompt, self._reply(prompt, schema, sampling), started)
        pieces = _PIECES.findall(generation.text)
        for piece in pieces:
            await asyncio.sleep(self._latency_seconds / len(pieces))
            on_text(piece)
        return dataclasses.replace(generation, latency_ms=(time.perf_counter() - started) * 1000)

    def _generation(self, prompt: Prompt, reply: str | Generation, started: float) -> Generation:
        if isinstance(reply, Generation):
            return reply
        return Generation(
            text=reply,
            finish_reason="stop",
            prompt_tokens=sum(len(message.content.split()) for message in prompt.messages),
            completion_tokens=len(reply.split()),
            latency_ms=(time.perf_counter() - started) * 1000,
        )

    async def check(self) -> None:
        if self._state:
            raise EngineNotReady(f"the scripted engine cannot answer: {self._state}")

    async def aclose(self) -> None:
        self._state = "it has been closed"


def replies_from_file(path: Path) -> Reply:
    """Read a JSON object: prompt name -> list of replies (text or object), given round robin.

    Raises StartFailed if the file cannot be used.
    """
    try:
        script = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise StartFailed(f"the script {str(path)!r} cannot be read: {error}") from error
    well_formed = isinstance(script, dict) and all(isinstance(v, list) and v for v in script.values())
    if not well_formed:
        raise StartFailed(f"the script {str(path)!r} must be an object of prompt name -> list of replies")
    turns = dict.fromkeys(script, 0)

    def reply(prompt: Prompt, schema: OutputSchema | None, sampling: Sampling) -> str:
        if prompt.name not in script:
            raise CallFailed(f"the script has no replies for {prompt.name!r}; add them to {str(path)!r}")
        said = script[prompt.name][turns[prompt.name] % len(script[prompt.name])]
        turns[prompt.name] += 1
        return said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)

    return reply
