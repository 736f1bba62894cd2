"""What the OpenAPI document says of errors: every problem a route can answer with, in its own media type."""

from typing import Any

from app.api.problems import (
    BODY_TOO_LARGE,
    CONTENT_ERASED,
    DEADLINE_EXCEEDED,
    ENGINE_FAILED,
    FORBIDDEN,
    HEADERS_TOO_LARGE,
    IDEMPOTENCY_IN_FLIGHT,
    IDEMPOTENCY_MISMATCH,
    INTERNAL,
    INVALID_HEADER,
    INVALID_REQUEST,
    MESSAGE_TOO_LONG,
    NOT_FOUND,
    NOT_JSON,
    NOT_READY,
    OVERLOADED,
    RATE_LIMITED,
    STORE_UNAVAILABLE,
    TYPE_PREFIX,
    UNAUTHORIZED,
    Kind,
)
from app.api.schemas import DecisionEvent, FactsEvent, NarrationEvent

EVENT_STREAM = "text/event-stream"

PROBLEM_SCHEMA = {
    "type": "object",
    "description": "RFC 9457; docs/problems.md has a section for each type.",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "request_id": {"type": "string"},
        "retry_after_seconds": {
            "type": "integer",
            "description": "As in Retry-After, for where no header can be sent.",
        },
        "errors": {"type": "array", "items": {"type": "object", "additionalProperties": {"type": "string"}}},
    },
    "required": ["type", "title", "status", "detail", "request_id"],
}

EVENT_STREAM_SCHEMA = {
    "type": "string",
    "description": (
        "Server-sent events: `facts`, `decision`, any number of `narration`, `done` with the whole reply. `error` ends "
        "the stream in place of `done` and holds a problem. Comments keep the connection open. The schemas of the "
        "data, a JSON text each, by event, are in `x-events`; that of `done` is the reply as application/json."
    ),
    "x-events": {
        "facts": FactsEvent.model_json_schema(mode="serialization"),
        "decision": DecisionEvent.model_json_schema(mode="serialization"),
        "narration": NarrationEvent.model_json_schema(mode="serialization"),
        "error": PROBLEM_SCHEMA,
    },
}

_ALWAYS = (HEADERS_TOO_LARGE, INTERNAL, BODY_TOO_LARGE)
_WITH_KEY = (*_ALWAYS, UNAUTHORIZED, FORBIDDEN)
_OF_A_RECORD = (*_WITH_KEY, INVALID_REQUEST, NOT_FOUND, STORE_UNAVAILABLE)

_IDENTIFIED = {
    "read": {"operationId": "read", "parameters": {"check_id": "$response.body#/id"}},
    "erase": {"operationId": "erase_check", "parameters": {"check_id": "$response.body#/id"}},
}


def responses(*kinds: Kind) -> dict[int | str, dict[str, Any]]:
    """By status, for a route's `responses`."""
    statuses: dict[int | str, dict[str, Any]] = {}
    for kind in kinds:
        types = [f"`{TYPE_PREFIX}{other.name}`" for other in kinds if other.status == kind.status]
        statuses[kind.status] = {
            "description": f"{kind.title}. Types: {', '.join(types)}",
            "content": {"application/problem+json": {"schema": PROBLEM_SCHEMA}},
        }
        if kind.retry_after_seconds:
            statuses[kind.status]["headers"] = {"Retry-After": {"schema": {"type": "integer"}}}
    return statuses


OF_A_CHECK = responses(
    *_WITH_KEY, INVALID_REQUEST, INVALID_HEADER, NOT_JSON, MESSAGE_TOO_LONG, RATE_LIMITED, NOT_READY, OVERLOADED,
    ENGINE_FAILED, DEADLINE_EXCEEDED, STORE_UNAVAILABLE, IDEMPOTENCY_IN_FLIGHT, IDEMPOTENCY_MISMATCH, CONTENT_ERASED,
) | {200: {"links": _IDENTIFIED, "content": {EVENT_STREAM: {"schema": EVENT_STREAM_SCHEMA}}}}  # fmt: skip
OF_A_RECORD = responses(*_OF_A_RECORD)
OF_METRICS = responses(*_WITH_KEY)
OF_HEALTH = responses(*_ALWAYS)
