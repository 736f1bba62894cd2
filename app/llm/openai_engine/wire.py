"""OpenAI's chat completions as bytes: what is asked, what may come back, and what each refusal means."""

import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, cast, get_args

import aiohttp
from aiohttp.http_exceptions import LineTooLong

from app.errors import CallFailed, EngineError, EngineOverloaded, PromptTooLong
from app.llm.engine import FinishReason, OutputSchema, Prompt, Sampling
from app.llm.grammar_schema import grammar_schema

MAX_ANSWER_BYTES = 1024 * 1024
"""2,048 tokens are some 10 kB; what is longer is no answer."""

_MARKS = re.compile(
    r"<\|[^|<>\n]{1,60}\|>|</?s>|\[/?(?:INST|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\]|<</?SYS>>"
    r"|<(?:start|end)_of_(?:turn|image)>|<(?:bos|eos|pad|unk)>|<\uff5c[^\uff5c<>\n]{1,60}\uff5c>"
)
"""Marks of the chat templates in use. The server reads them out of a message's text: a customer must not write them."""

_CONTEXT = re.compile(r"context length|context window|maximum.{0,20}length|too long|too many tokens", re.IGNORECASE)
_KIND = re.compile(r"[A-Za-z_]{1,40}")
_NUMBERS = re.compile(r"\d{2,}")


@dataclass(frozen=True)
class Piece:
    """Of an answer: a whole one is one piece."""

    text: str = ""
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


def request_body(
    model: str, prompt: Prompt, schema: OutputSchema | None, sampling: Sampling, *, in_pieces: bool
) -> dict[str, Any]:
    """Raises CallFailed for text with lone surrogates."""
    try:
        "".join(message.content for message in prompt.messages).encode()
    except UnicodeEncodeError as error:
        raise CallFailed(f"the prompt {prompt.name!r} is not valid Unicode") from error
    body: dict[str, Any] = {
        "model": model,
        "messages": [{"role": m.role, "content": _without_marks(m.content)} for m in prompt.messages],
        "max_tokens": sampling.max_tokens,
        "temperature": sampling.temperature,
    }
    if sampling.seed is not None and sampling.temperature > 0:
        body["seed"] = sampling.seed
    if schema is not None:
        named = {"name": re.sub(r"[^A-Za-z0-9_-]", "_", schema.name), "schema": grammar_schema(schema.json_schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": named | {"strict": True}}
    if in_pieces:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    return body


def _without_marks(content: str) -> str:
    return _MARKS.sub(lambda mark: f"{mark[0][0]} {mark[0][1:]}", content)


async def whole_answer(answer: aiohttp.ClientResponse) -> Piece:
    """Raises CallFailed for what is no answer."""
    body = _object(await bounded(answer))
    return _piece(body, "message")


async def pieces(answer: aiohttp.ClientResponse) -> AsyncIterator[Piece]:
    """Of server-sent events. Raises CallFailed, also where the stream ends before the answer does."""
    seen = 0
    while True:
        try:
            line = await answer.content.readline()
        except (ValueError, LineTooLong) as error:
            raise CallFailed("the engine's server sent a line that has no end") from error
        seen += len(line)
        if not line or seen > MAX_ANSWER_BYTES:
            raise CallFailed("the engine's server broke off its answer" if not line else _too_long())
        if not line.startswith(b"data:"):
            continue
        data = line.removeprefix(b"data:").strip()
        if data == b"[DONE]":
            return
        yield _piece(_object(data), "delta")


async def bounded(answer: aiohttp.ClientResponse) -> bytes:
    """Raises CallFailed for more than any answer holds."""
    read = bytearray()
    async for some in answer.content.iter_any():
        read += some
        if len(read) > MAX_ANSWER_BYTES:
            raise CallFailed(_too_long())
    return bytes(read)


def finished(reason: str | None) -> FinishReason:
    """Raises CallFailed for an ending that has no place here, like a tool call."""
    for known in get_args(FinishReason):
        if reason == known:
            return cast(FinishReason, known)
    raise CallFailed(f"the engine's server ended the call with {reason!r}")


def refusal(status: int, body: bytes) -> EngineError:
    """What a status other than 200 means."""
    message = _message(body)
    if status in (429, 503):
        return EngineOverloaded(f"the engine's server refuses more work for the moment ({status})")
    if status in (400, 413, 422) and _CONTEXT.search(message):
        numbers = [int(number) for number in _NUMBERS.findall(message)]
        return PromptTooLong(max(numbers, default=0), min(numbers, default=0))
    return CallFailed(f"the engine's server answered {status}{_kind(body)}")


def _error(body: bytes) -> dict[str, Any]:
    try:
        error = json.loads(body)
        error = error.get("error", error)
    except (ValueError, AttributeError):
        return {}
    return error if isinstance(error, dict) else {"message": error}


def _message(body: bytes) -> str:
    """The server's own words. Never told on: they may repeat the customer's."""
    return str(_error(body).get("message", ""))


def _kind(body: bytes) -> str:
    kind = _error(body).get("type")
    return f", {kind}" if isinstance(kind, str) and _KIND.fullmatch(kind) else ""


def _object(data: bytes) -> dict[str, Any]:
    try:
        body = json.loads(data)
    except ValueError as error:
        raise CallFailed("the engine's server answered what is not JSON") from error
    if not isinstance(body, dict):
        raise CallFailed("the engine's server answered JSON that is no object")
    if "error" in body and not body.get("choices"):
        raise refusal(500, data)
    return body


def _piece(body: dict[str, Any], part: str) -> Piece:
    try:
        usage = body.get("usage") or {}
        prompt_tokens, completion_tokens = usage.get("prompt_tokens"), usage.get("completion_tokens")
        if part == "delta" and not body["choices"]:
            return Piece(prompt_tokens=_number(prompt_tokens), completion_tokens=_number(completion_tokens))
        choice = body["choices"][0]
        text, reason = choice[part].get("content") or "", choice.get("finish_reason")
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise CallFailed("the engine's server answered JSON that is no chat completion") from error
    if not isinstance(text, str):
        raise CallFailed("the engine's server answered JSON that is no chat completion")
    return Piece(text, reason, _number(prompt_tokens), _number(completion_tokens))


def _number(value: Any) -> int | None:
    """Of tokens; some servers leave it out."""
    return value if isinstance(value, int) else None


def _too_long() -> str:
    return f"the engine's server answered more than {MAX_ANSWER_BYTES} bytes"
