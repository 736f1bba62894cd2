"""Every error that leaves the service is a problem that names what is wrong and where."""

from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from app.api.connection import ClientGone
from app.api.problems import (
    INTERNAL,
    INVALID_REQUEST,
    METHOD_NOT_ALLOWED,
    NOT_FOUND,
    NOT_JSON,
    Kind,
    Problem,
    kind_of,
    refusal,
)
from app.errors import ServiceBusy, ServiceError

BY_STATUS = {404: NOT_FOUND, 405: METHOD_NOT_ALLOWED, 400: NOT_JSON}


def add_handlers(app: FastAPI) -> None:
    app.add_exception_handler(Problem, _on_problem)  # type: ignore[arg-type]
    app.add_exception_handler(RequestValidationError, _on_invalid)  # type: ignore[arg-type]
    app.add_exception_handler(ServiceError, _on_service_error)  # type: ignore[arg-type]
    app.add_exception_handler(HTTPException, _on_http)  # type: ignore[arg-type]
    app.add_exception_handler(ClientGone, _on_client_gone)


def _answer(
    http: Request,
    kind: Kind,
    detail: str,
    errors: list[dict[str, str]] | None = None,
    retry_after_seconds: int | None = None,
) -> Response:
    return refusal(kind, detail, http.state.request_id, errors, retry_after_seconds)


async def _on_problem(http: Request, error: Problem) -> Response:
    return _answer(http, error.kind, error.detail, error.errors, error.retry_after_seconds)


async def _on_invalid(http: Request, error: RequestValidationError) -> Response:
    problems = error.errors()
    if any(problem["type"] == "json_invalid" for problem in problems):
        return _answer(http, NOT_JSON, f"the body is not JSON: {problems[0].get('ctx', {}).get('error', 'unreadable')}")
    if problems[0]["loc"] == ("body",) and problems[0]["type"] in ("missing", "model_attributes_type"):
        return _answer(http, NOT_JSON, "the body must be a JSON object, sent as Content-Type: application/json")
    errors = [{"pointer": _pointer(problem["loc"]), "detail": _message(problem)} for problem in problems]
    return _answer(http, INVALID_REQUEST, "; ".join(f"{e['pointer']}: {e['detail']}" for e in errors[:3]), errors)


def _pointer(location: tuple[int | str, ...]) -> str:
    return "/" + "/".join(str(part) for part in location[1:])


def _message(problem: Any) -> str:
    """Without the input: it is the customer's text."""
    if problem["type"] == "extra_forbidden":
        return "is not a field of this request"
    message = str(problem["msg"]).removeprefix("Value error, ")
    return message[:1].lower() + message[1:]


async def _on_service_error(http: Request, error: ServiceError) -> Response:
    return service_refusal(error, http.state.request_id)


def service_refusal(error: ServiceError, request_id: str) -> Response:
    wait = error.retry_after_seconds if isinstance(error, ServiceBusy) else None
    return refusal(kind_of(error), str(error), request_id, retry_after_seconds=wait)


async def _on_http(http: Request, error: HTTPException) -> Response:
    if isinstance(error.__cause__, ClientDisconnect):  # FastAPI takes a body that stops short for a broken one
        return await _on_client_gone(http, error)
    kind = BY_STATUS.get(error.status_code, INTERNAL)
    detail = {NOT_FOUND: "there is no such path", NOT_JSON: "the body is not JSON in UTF-8"}.get(
        kind, str(error.detail)
    )
    response = _answer(http, kind, detail)
    response.headers.update(error.headers or {})  # a 405 says in Allow what is offered
    return response


async def _on_client_gone(http: Request, error: Exception) -> Response:
    return Response(status_code=499)  # nobody reads it; the measurements do
