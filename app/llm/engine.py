"""One contract for whatever answers prompts: embedded vLLM, a script, later a remote server."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, StrictFloat, StrictInt

Role = Literal["system", "user", "assistant"]
FinishReason = Literal["stop", "length", "abort"]

MAX_SEED = 2**31 - 1


@dataclass(frozen=True)
class ChatMessage:
    role: Role
    content: str


@dataclass(frozen=True)
class Prompt:
    name: str
    """What is asked for, e.g. `pipeline.extract`."""
    version: str
    messages: tuple[ChatMessage, ...]

    @property
    def sha256(self) -> str:
        rendered = json.dumps([[m.role, m.content] for m in self.messages], ensure_ascii=False)
        return hashlib.sha256(rendered.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class OutputSchema:
    """A JSON Schema the output should satisfy; property order is generation order."""

    name: str
    json_schema: Mapping[str, Any]

    @property
    def sha256(self) -> str:
        return hashlib.sha256(json.dumps(self.json_schema).encode()).hexdigest()


class Sampling(BaseModel):
    """How to draw tokens. Strict on purpose: vLLM's input thread dies of a seed that is not an integer."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    max_tokens: Annotated[StrictInt, Field(ge=1, le=2048)]
    temperature: Annotated[StrictFloat, Field(ge=0, le=2, allow_inf_nan=False)] = 0.0
    seed: Annotated[StrictInt, Field(ge=0, le=MAX_SEED)] | None = None
    """Ignored at temperature 0, where nothing is drawn."""


TextListener = Callable[[str], None]
"""Hears an answer piece by piece while it is generated; the pieces together are its text."""


@dataclass(frozen=True)
class Generation:
    text: str
    finish_reason: FinishReason
    """Only `stop` is a whole answer; `length` and `abort` are never parsed."""
    prompt_tokens: int
    completion_tokens: int
    latency_ms: float


class Engine(Protocol):
    """Contract, held by tests/contract/test_engines.py:

    `generate` answers or raises an EngineError; a cancelled `generate` stops the work behind it; `check` raises
    EngineNotReady with the reason while the engine loads, and EngineLost when it makes no progress or is dead; `aclose`
    is idempotent and leaves no process behind.
    """

    @property
    def model(self) -> str:
        """Name and precision of what answers, e.g. `qwen2.5-coder-1.5b-instruct/int8`."""
        ...

    async def start(self) -> None:
        """Load the model; returns when it can answer. Raises StartFailed."""
        ...

    async def compile(self, schema: OutputSchema) -> None:
        """Build the schema's grammar now, so that no customer waits for it. Raises CallFailed if it cannot be built."""
        ...

    async def generate(
        self, prompt: Prompt, schema: OutputSchema | None, sampling: Sampling, on_text: TextListener | None = None
    ) -> Generation:
        """Answer one prompt; with a schema, the text is held to it by grammar. `on_text` changes nothing but who hears.

        Raises EngineNotReady, EngineOverloaded, PromptTooLong, CallFailed.
        """
        ...

    async def check(self) -> None:
        """Raises EngineNotReady."""
        ...

    async def aclose(self) -> None: ...
