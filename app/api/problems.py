"""Errors as application/problem+json (RFC 9457). The only place that knows status codes."""

from dataclasses import dataclass
from typing import Any

from fastapi.responses import JSONResponse

from app.errors import (
    CheckInFlight,
    CheckNotFound,
    ContentErased,
    DeadlineExceeded,
    EngineError,
    EngineNotReady,
    EngineOverloaded,
    KeyReused,
    PromptTooLong,
    ServiceBusy,
    ServiceError,
    StoreUnavailable,
)
from app.telemetry import metrics

TYPE_PREFIX = "urn:booking-assistant:problem:"
"""docs/problems.md has a section for each name that follows."""


@dataclass(frozen=True)
class Kind:
    name: str
    status: int
    title: str
    retry_after_seconds: int | None = None


INVALID_REQUEST = Kind("invalid-request", 422, "The request is not valid")
INVALID_HEADER = Kind("invalid-header", 400, "A header is not valid")
NOT_JSON = Kind("not-json", 400, "The body is not JSON")
BODY_TOO_LARGE = Kind("body-too-large", 413, "The body is too large")
MESSAGE_TOO_LONG = Kind("message-too-long", 422, "The message is too long for the model")
UNAUTHORIZED = Kind("unauthorized", 401, "A valid key is needed")
FORBIDDEN = Kind("forbidden", 403, "The key does not allow this")
NOT_FOUND = Kind("not-found", 404, "There is nothing here")
METHOD_NOT_ALLOWED = Kind("method-not-allowed", 405, "This method is not offered here")
HEADERS_TOO_LARGE = Kind("headers-too-large", 431, "The headers are too large")
RATE_LIMITED = Kind("rate-limited", 429, "This key asks too often", retry_after_seconds=10)
IDEMPOTENCY_IN_FLIGHT = Kind(
    "idempotency-in-flight", 409, "A check with this Idempotency-Key is being worked on", retry_after_seconds=2
)
IDEMPOTENCY_MISMATCH = Kind("idempotency-mismatch", 422, "The Idempotency-Key stands for another request")
CONTENT_ERASED = Kind("content-erased", 410, "The content has been erased")
NOT_READY = Kind("not-ready", 503, "The service is not ready", retry_after_seconds=10)
OVERLOADED = Kind("overloaded", 503, "The service is busy", retry_after_seconds=5)
ENGINE_FAILED = Kind("engine-failed", 502, "The model gave no answer", retry_after_seconds=5)
DEADLINE_EXCEEDED = Kind("deadline-exceeded", 504, "The check took too long", retry_after_seconds=30)
STORE_UNAVAILABLE = Kind("store-unavailable", 503, "The check could not be recorded", retry_after_seconds=10)
INTERNAL = Kind("internal-error", 500, "Something is wrong on our side")

KINDS = tuple(kind for kind in globals().values() if isinstance(kind, Kind))

BY_ERROR: tuple[tuple[type[ServiceError], Kind], ...] = (
    (EngineNotReady, NOT_READY),
    (EngineOverloaded, OVERLOADED),
    (ServiceBusy, OVERLOADED),
    (PromptTooLong, MESSAGE_TOO_LONG),
    (EngineError, ENGINE_FAILED),
    (DeadlineExceeded, DEADLINE_EXCEEDED),
    (StoreUnavailable, STORE_UNAVAILABLE),
    (CheckInFlight, IDEMPOTENCY_IN_FLIGHT),
    (KeyReused, IDEMPOTENCY_MISMATCH),
    (ContentErased, CONTENT_ERASED),
    (CheckNotFound, NOT_FOUND),
)
"""The first that fits: subclasses stand before their base."""


class Problem(Exception):
    """Raised by HTTP code for what is wrong with a request."""

    def __init__(
        self,
        kind: Kind,
        detail: str,
        errors: list[dict[str, str]] | None = None,
        retry_after_seconds: int | None = None,
    ) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail
        self.errors = errors or []
        self.retry_after_seconds = retry_after_seconds


def kind_of(error: ServiceError) -> Kind:
    return next((kind for cls, kind in BY_ERROR if isinstance(error, cls)), INTERNAL)


def problem_body(
    kind: Kind,
    detail: str,
    request_id: str,
    errors: list[dict[str, str]] | None = None,
    retry_after_seconds: int | None = None,
) -> dict[str, Any]:
    body: dict[str, Any] = {
        "type": TYPE_PREFIX + kind.name,
        "title": kind.title,
        "status": kind.status,
        "detail": detail,
        "request_id": request_id,
    }
    if retry_after_seconds:
        body["retry_after_seconds"] = retry_after_seconds
    return body | ({"errors": errors} if errors else {})


def refusal(
    kind: Kind,
    detail: str,
    request_id: str,
    errors: list[dict[str, str]] | None = None,
    retry_after_seconds: int | None = None,
) -> JSONResponse:
    """A problem that is counted: what a caller is told instead of an answer."""
    metrics.REFUSED.labels(kind.name).inc()
    return problem_response(kind, detail, request_id, errors, retry_after_seconds)


def problem_response(
    kind: Kind,
    detail: str,
    request_id: str,
    errors: list[dict[str, str]] | None = None,
    retry_after_seconds: int | None = None,
) -> JSONResponse:
    """`retry_after_seconds` where it is known better than the kind says."""
    wait = retry_after_seconds or kind.retry_after_seconds
    headers = {"Retry-After": str(wait)} if wait else {}
    if kind is UNAUTHORIZED:
        headers["WWW-Authenticate"] = "Bearer"
    body = problem_body(kind, detail, request_id, errors, wait)
    return JSONResponse(body, kind.status, headers, media_type="application/problem+json")
