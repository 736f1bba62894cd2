"""The HTTP interface of checks and their records."""

import hashlib
import re
import secrets
from typing import Annotated, TypeVar
from uuid import UUID

from fastapi import APIRouter, Body, Depends, Request, Response
from uuid6 import uuid7

from app.api.access import Access, require
from app.api.answers import check_out, stored_check_out
from app.api.connection import while_connected
from app.api.event_stream import stream_check, wants_events
from app.api.keys import Caller
from app.api.openapi import OF_A_CHECK, OF_A_RECORD
from app.api.problems import INVALID_HEADER, Problem
from app.api.readiness import Readiness
from app.api.schemas import CheckIn, CheckOut, SamplingIn, StoredCheckOut
from app.llm.engine import MAX_SEED
from app.pipeline.checks import Checks
from app.pipeline.deadline import Deadline
from app.pipeline.design import DesignName, Enforcement
from app.pipeline.grounding import Message
from app.pipeline.request import CheckRequest, IdempotencyKey
from app.telemetry.clock import utc_now

N = TypeVar("N", DesignName, Enforcement)

DESIGN_HEADER, ENFORCEMENT_HEADER = "X-Schema-Design", "X-Enforcement"
IDEMPOTENCY_HEADER, REPLAYED_HEADER = "Idempotency-Key", "Idempotent-Replayed"
UNCHECKED_HEADER = "Idempotency-Unchecked"
"""On an answer that may be a second one, because the database could not be asked for a first."""

TIMEOUT_HEADER = "X-Timeout-Seconds"
LEAST_SECONDS = 1.0
_SECONDS = re.compile(r"[0-9]{1,6}(\.[0-9]{1,3})?")
_IDEMPOTENCY_KEY = re.compile(r"[\x21-\x7e]{1,255}")


CHECK_PATH = "/consultations/check"
REQUEST_HEADERS = [DESIGN_HEADER, ENFORCEMENT_HEADER, IDEMPOTENCY_HEADER, TIMEOUT_HEADER, "X-Request-Id"]
EXPOSED_HEADERS = ["X-Request-Id", "Retry-After", REPLAYED_HEADER, UNCHECKED_HEADER]
"""What a page of another origin may send and read."""

_HEADERS = [
    {
        "name": DESIGN_HEADER,
        "in": "header",
        "description": "Which design answers; a name or its number, 1 to 5.",
        "schema": {"type": "string", "enum": [design.value for design in DesignName], "default": "pipeline"},
    },
    {
        "name": ENFORCEMENT_HEADER,
        "in": "header",
        "description": "Whether a grammar holds the model's output to its schema.",
        "schema": {"type": "string", "enum": [value.value for value in Enforcement], "default": "constrained"},
    },
    {
        "name": IDEMPOTENCY_HEADER,
        "in": "header",
        "description": "Made anew for each check; a retry with the same key gets the same reply for 24 hours.",
        "schema": {"type": "string", "pattern": "^[\\x21-\\x7e]{1,255}$"},
    },
    {
        "name": TIMEOUT_HEADER,
        "in": "header",
        "description": "How long the caller will wait. When it runs short the service words the reply itself.",
        "schema": {"type": "number", "minimum": LEAST_SECONDS},
    },
]


def build_check_router(checks: Checks, access: Access, readiness: Readiness) -> APIRouter:
    router = APIRouter()

    async def may_check(http: Request) -> Caller:  # async, or FastAPI would ask in another thread
        """Asked before the body is validated: a stranger learns nothing of what a body may hold."""
        caller = access.caller(http, "check")
        access.require_rate(caller)
        return caller

    @router.post(
        CHECK_PATH,
        operation_id="check",
        response_model=CheckOut,
        responses=OF_A_CHECK,
        openapi_extra={"parameters": _HEADERS},
    )
    async def check(
        caller: Annotated[Caller, Depends(may_check)], body: Annotated[CheckIn, Body()], http: Request
    ) -> Response:
        """Extract the facts, decide, reply. Every answer has a stored record.

        `Accept: text/event-stream` gets the same check as it happens.
        """
        if body.sampling != SamplingIn():
            require(caller, "eval")
        request = _check_request(body, http, caller, checks)
        await readiness.require()
        if wants_events(http):
            stream = await stream_check(http, checks, request)
            return _marked(stream, stream.is_replay, stream.is_first_known)
        answer = await while_connected(http.receive, checks.check(request))
        response = Response(check_out(answer.record).model_dump_json(), media_type="application/json")
        return _marked(response, answer.is_replay, answer.is_first_known)

    @router.get("/consultations/{check_id}", operation_id="read", response_model=StoredCheckOut, responses=OF_A_RECORD)
    async def read(check_id: UUID, http: Request) -> StoredCheckOut:
        """The stored record, the customer's text and the model's raw outputs with it."""
        access.caller(http, "read")
        return stored_check_out(await checks.read(check_id))

    return router


def _marked(response: Response, is_replay: bool, is_first_known: bool) -> Response:
    if is_replay:
        response.headers[REPLAYED_HEADER] = "true"
    elif not is_first_known:
        response.headers[UNCHECKED_HEADER] = "true"
    return response


def _check_request(body: CheckIn, http: Request, caller: Caller, checks: Checks) -> CheckRequest:
    if body.messages is not None:
        conversation = tuple(Message(m.role, m.content) for m in body.messages)
    else:
        conversation = (Message("customer", body.message or ""),)
    seed = body.sampling.seed
    design, enforcement = _design(http), _enforcement(http)
    return CheckRequest(
        id=uuid7(),
        conversation=conversation,
        received_at=body.received_at or utc_now(),
        timezone=body.zone,
        design=design,
        enforcement=enforcement,
        seed=secrets.randbelow(MAX_SEED + 1) if seed is None else seed,
        temperature=body.sampling.temperature,
        request_id=http.state.request_id,
        conversation_id=body.conversation_id,
        caller=caller.name,
        deadline=Deadline.after(_seconds(http, checks.limits.check_timeout_seconds)),
        idempotency=_idempotency(http, design, enforcement, body),
    )


def _seconds(http: Request, most: float) -> float:
    """What the caller is willing to wait, at most what this service gives a check."""
    given = http.headers.get(TIMEOUT_HEADER)
    if given is None:
        return most
    if not _SECONDS.fullmatch(given) or float(given) < LEAST_SECONDS:
        detail = f"{TIMEOUT_HEADER} must be a number of seconds, at least {LEAST_SECONDS:g}"
        raise Problem(INVALID_HEADER, detail, [{"header": TIMEOUT_HEADER, "detail": detail}])
    return min(float(given), most)


def _idempotency(http: Request, design: DesignName, enforcement: Enforcement, body: CheckIn) -> IdempotencyKey | None:
    key = http.headers.get(IDEMPOTENCY_HEADER)
    if key is None:
        return None
    if not _IDEMPOTENCY_KEY.fullmatch(key):
        detail = f"{IDEMPOTENCY_HEADER} must be 1 to 255 visible ASCII characters, made anew for each check"
        raise Problem(INVALID_HEADER, detail, [{"header": IDEMPOTENCY_HEADER, "detail": detail}])
    asked = f"{design.value} {enforcement.value} {body.model_dump_json()}"
    return IdempotencyKey(_sha256(key), _sha256(asked))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _design(http: Request) -> DesignName:
    value = http.headers.get(DESIGN_HEADER, DesignName.PIPELINE.value).strip().lower()
    by_number = {str(n): design for n, design in enumerate(DesignName, start=1)}
    if value in by_number:
        return by_number[value]
    return _one_of(DesignName, DESIGN_HEADER, value, "or 1 to 5")


def _enforcement(http: Request) -> Enforcement:
    value = http.headers.get(ENFORCEMENT_HEADER, Enforcement.CONSTRAINED.value).strip().lower()
    return _one_of(Enforcement, ENFORCEMENT_HEADER, value)


def _one_of(names: type[N], header: str, value: str, also: str = "") -> N:
    try:
        return names(value)
    except ValueError:
        detail = f"{header} must be one of {', '.join(names)} {also}".strip()
        raise Problem(INVALID_HEADER, detail, [{"header": header, "detail": detail}]) from None
