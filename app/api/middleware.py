"""Pure ASGI layers around the routes: request id, body limit, measurements. Nothing here reads a body."""

import logging
import re
import time
import traceback
from collections.abc import Callable
from typing import Any
from uuid import uuid4

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.problems import BODY_TOO_LARGE, HEADERS_TOO_LARGE, INTERNAL, OVERLOADED, problem_response, refusal
from app.errors import ServiceBusy
from app.telemetry import metrics

log = logging.getLogger(__name__)

UNANSWERED = 499
"""The status that is measured when the client left before there was one."""

MAX_BODY_BYTES = 256 * 1024
"""8,000 characters, each written as a surrogate pair in JSON escapes, are 96,000 bytes; the rest is room."""

MAX_HEADERS = 64
MAX_HEADER_BYTES = 16 * 1024

DOCUMENTATION = ("/docs", "/redoc", "/docs/oauth2-redirect")

SECURITY_HEADERS = (
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
)

_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")


class RequestContext:
    """Gives every request an id (the caller's, if it is well formed) and measures it by route template."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = _header(scope, b"x-request-id")
        request_id = given if _REQUEST_ID.fullmatch(given) else uuid4().hex
        scope.setdefault("state", {})["request_id"] = request_id
        started, status = time.perf_counter(), UNANSWERED

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", request_id.encode())]
            await send(message)

        try:
            await self._app(scope, receive, send_with_id)
        except Exception as error:  # noqa: BLE001 - the outermost layer: whatever is left is a bug of ours
            # Its text may hold a customer's words; the traceback holds none of our values.
            where = "".join(traceback.format_tb(error.__traceback__))
            fields = {"request_id": request_id, "error": type(error).__name__, "where": where}
            log.error("request.failed", extra=fields)
            if status == UNANSWERED:
                detail = "an unexpected error; the request id leads to it in the log"
                await problem_response(INTERNAL, detail, request_id)(scope, receive, send_with_id)
        finally:
            route = getattr(scope.get("route"), "path", "unmatched")
            method = scope["method"] if scope["method"] in ("GET", "POST", "HEAD", "DELETE", "OPTIONS") else "other"
            metrics.HTTP_SECONDS.labels(method, route, str(status)).observe(time.perf_counter() - started)


class Door:
    """Says no to a check before its body is read, its key looked up or its route found, when there is no room for it.

    That takes a fraction of what a refusal at the end of that way takes, so that those who are in are not slowed down.
    """

    def __init__(self, app: ASGIApp, path: str, require_room: Callable[[], None]) -> None:
        """`require_room` raises ServiceBusy."""
        self._app = app
        self._path = path
        self._require_room = require_room

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == self._path and scope["method"] == "POST":
            try:
                self._require_room()
            except ServiceBusy as error:
                request_id = scope["state"]["request_id"]
                response = refusal(OVERLOADED, str(error), request_id, None, error.retry_after_seconds)
                await response(scope, receive, send)
                return
        await self._app(scope, receive, send)


class HeaderLimit:
    """Refuses a request with more or longer headers than any caller needs, before anything is read from them."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and _are_too_large(scope["headers"]):
            detail = f"at most {MAX_HEADERS} headers of {MAX_HEADER_BYTES} bytes together are read"
            await refusal(HEADERS_TOO_LARGE, detail, scope["state"]["request_id"])(scope, receive, send)
            return
        await self._app(scope, receive, send)


def _are_too_large(headers: list[tuple[bytes, bytes]]) -> bool:
    return len(headers) > MAX_HEADERS or sum(len(name) + len(value) for name, value in headers) > MAX_HEADER_BYTES


class SecurityHeaders:
    """What a browser has to be told about every answer: keep it, guess at it and frame it never."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # The page of /docs brings scripts of its own, the chat page says what it needs; everything else is data.
        is_documentation = scope["path"] in DOCUMENTATION

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                has_policy = any(name == b"content-security-policy" for name, _ in message["headers"])
                added = SECURITY_HEADERS[1:] if is_documentation or has_policy else SECURITY_HEADERS
                message["headers"] = [*message["headers"], *added]
            await send(message)

        await self._app(scope, receive, send_with_headers)


class BodyLimit:
    """Refuses a body over the limit, by its declared length or as it streams in."""

    def __init__(self, app: ASGIApp, max_bytes: int = MAX_BODY_BYTES) -> None:
        self._app = app
        self._max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        declared = _header(scope, b"content-length")
        if declared.isdigit() and int(declared) > self._max_bytes:
            await self._refuse(scope, receive, send)
            return
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._max_bytes:
                raise _TooLarge
            return message

        answered = False

        async def noticed(message: Message) -> None:
            nonlocal answered
            answered = True
            await send(message)

        try:
            await self._app(scope, counted, noticed)
        except _TooLarge:
            if not answered:
                await self._refuse(scope, receive, send)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        detail = f"the body is larger than {self._max_bytes} bytes; a message has at most 8,000 characters"
        response = refusal(BODY_TOO_LARGE, detail, scope["state"]["request_id"])
        response.headers["Connection"] = "close"
        await response(scope, receive, send)


class _TooLarge(BaseException):
    """BaseException, so that no handler in between mistakes it for a broken body."""


def _header(scope: dict[str, Any] | Scope, name: bytes) -> str:
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), "")
