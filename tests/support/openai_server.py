"""A server that speaks as an OpenAI-compatible one does, or as a broken one does."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

MODEL = "small"


@dataclass
class Server:
    """Answers `text` in words; `fault` says what it does instead."""

    url: str = ""
    text: str = '{"first":true,"second":2,"third":"x y"}'
    fault: str = ""
    key: str | None = None
    models: list[str] = field(default_factory=lambda: [MODEL])
    asked: list[dict[str, Any]] = field(default_factory=list)
    left: int = 0
    """Callers that hung up before they had their answer."""

    async def on_models(self, request: web.Request) -> web.Response:
        if self.key and request.headers.get("Authorization") != f"Bearer {self.key}":
            return web.json_response({"error": {"message": "no such key"}}, status=401)
        if self.fault == "loading":
            return web.Response(status=503)
        return web.json_response({"data": [{"id": name} for name in self.models]})

    async def on_chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.asked.append(body)
        if self.fault in FAULTS:
            return await FAULTS[self.fault](request)
        if self.fault == "hangs":
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.left += 1
                raise
        if not body.get("stream"):
            return web.json_response(
                {
                    "choices": [{"message": {"content": self.text}, "finish_reason": "stop"}],
                    "usage": {"prompt_tokens": 7, "completion_tokens": 5},
                }
            )
        return await self._streamed(request)

    async def _streamed(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        words = self.text.split(" ")
        for n, word in enumerate(words):
            if self.fault == "breaks off" and n == 1:
                assert request.transport is not None
                request.transport.abort()
                return response
            said = word if n == len(words) - 1 else word + " "
            reason = "stop" if n == len(words) - 1 else None
            await _send(response, {"choices": [{"delta": {"content": said}, "finish_reason": reason}]})
        await _send(response, {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 5}})
        await response.write(b"data: [DONE]\n\n")
        return response


async def _send(response: web.StreamResponse, data: dict[str, Any]) -> None:
    await response.write(b"data: " + json.dumps(data).encode() + b"\n\n")


def _answers(status: int, body: bytes) -> Any:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(status=status, body=body, content_type="application/json")

    return answer


async def _floods(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    for _ in range(1000):
        await response.write(b"x" * 65536)
    return response


async def _resets(request: web.Request) -> web.Response:
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


FAULTS = {
    "overloaded": _answers(503, b""),
    "rate limited": _answers(429, b'{"error": {"message": "slow down"}}'),
    "too long": _answers(
        400, b'{"error": {"message": "maximum context length is 4096 tokens. However, you requested 9000 tokens"}}'
    ),
    "bad request": _answers(400, b'{"error": {"message": "no such field"}}'),
    "echoes": _answers(400, b'{"error": {"message": "input: I am 34.", "type": "BadRequestError"}}'),
    "not json": _answers(200, b"<html>"),
    "no object": _answers(200, b"[1]"),
    "no choices": _answers(200, b'{"choices": []}'),
    "no text": _answers(200, b'{"choices": [{"message": {"content": 3}, "finish_reason": "stop"}]}'),
    "error in 200": _answers(200, b'{"error": {"message": "out of memory"}}'),
    "tool call": _answers(200, b'{"choices": [{"message": {"content": ""}, "finish_reason": "tool_calls"}]}'),
    "internal error": _answers(500, b"\xff\xfe"),
    "floods": _floods,
    "resets": _resets,
}


@asynccontextmanager
async def serving(server: Server, port: int = 0) -> AsyncIterator[Server]:
    api = web.Application()
    api.router.add_get("/v1/models", server.on_models)
    api.router.add_post("/v1/chat/completions", server.on_chat)
    runner = web.AppRunner(api, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port)
    await site.start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    try:
        yield server
    finally:
        await runner.cleanup()
