"""The service under test, over HTTP and nothing else."""

import asyncio
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import httpx
from pydantic import BaseModel, ValidationError

from eval.errors import EvalError, Unreachable
from eval.plan import Condition

READY_SECONDS = 5.0
BUSY_SECONDS = 900.0
"""How long a check waits while the service says that it is full: that is no answer, and draws nothing anew."""


@dataclass(frozen=True)
class About:
    """What answers at the base URL."""

    service_version: str
    model: str
    policy_version: str
    policy_hash: str


class _Eligibility(BaseModel):
    criteria_met: bool
    reason_code: str


class _Appointment(BaseModel):
    date: str
    time: str


class _Fact(BaseModel):
    value: Any
    status: str


class _Policy(BaseModel):
    version: str
    hash: str


class _Reply(BaseModel):
    """What is scored of an answer; whatever else it holds is left alone."""

    id: str
    eligibility: _Eligibility
    action: str
    appointment: _Appointment | None
    response_text: str
    facts: dict[str, _Fact] | None
    valid: bool
    strict_json: bool
    field_order_ok: bool
    consistent: bool
    flags: list[str]
    narration_source: str
    model: str
    usage: dict[str, int]
    timings_ms: dict[str, float]
    policy: _Policy


@dataclass(frozen=True)
class Answer:
    reply: dict[str, Any]
    calls: list[dict[str, Any]]
    """From the stored record; raw outputs are null where the key may not see them."""
    service_version: str
    latency_ms: float


class NoAnswer(Exception):
    """No 200 came back."""

    def __init__(self, error: str, detail: str) -> None:
        super().__init__(detail)
        self.error = error
        self.detail = detail


class Service:
    """An HTTP client for one base URL. The key, if any, needs the scopes check and read, and raw to see raw outputs."""

    def __init__(self, base_url: str, api_key: str | None, timeout_seconds: float, connections: int) -> None:
        if not re.match(r"https?://[^/]", base_url):
            raise EvalError(f"--base-url {base_url!r} is no address; it begins with http:// or https://")
        try:
            self._http = httpx.AsyncClient(
                base_url=base_url,
                headers={"Authorization": f"Bearer {api_key}"} if api_key else {},
                timeout=httpx.Timeout(timeout_seconds, connect=10),
                limits=httpx.Limits(max_connections=connections),
            )
        except (httpx.InvalidURL, ValueError) as error:
            raise EvalError(f"--base-url {base_url!r} is no address: {error}") from error
        self._base_url = base_url

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def require_ready(self) -> None:
        """Raises Unreachable with what the service says."""
        try:
            response = await self._http.get("/readyz", timeout=READY_SECONDS)
        except httpx.TransportError as error:
            raise Unreachable(
                f"nothing answers at {self._base_url} ({type(error).__name__}); start the service with `make run`, "
                "or point --base-url at it"
            ) from error
        if response.status_code != 200:
            raise Unreachable(f"{self._base_url} is not ready: {_problem(response)}")

    async def about(self, condition: Condition, body: Mapping[str, Any]) -> About:
        """By one check, since only an answer says who answers. Raises Unreachable if there is none."""
        try:
            answer = await self.check(condition, body)
        except NoAnswer as error:
            raise Unreachable(f"{self._base_url} answers no check: {error.error}: {error.detail}") from error
        reply = answer.reply
        return About(answer.service_version, reply["model"], reply["policy"]["version"], reply["policy"]["hash"])

    async def check(self, condition: Condition, body: Mapping[str, Any]) -> Answer:
        """Raises NoAnswer."""
        headers = {"X-Schema-Design": condition.design.value, "X-Enforcement": condition.enforcement.value}
        response, latency_ms = await self._post_when_free(headers, body)
        if response.status_code != 200:
            raise NoAnswer(f"http_{response.status_code}", _problem(response))
        reply = _json(response)
        try:
            _Reply.model_validate(reply)
        except ValidationError as error:
            problem = error.errors()[0]
            where = ".".join(str(part) for part in problem["loc"])
            raise NoAnswer("unexpected_reply", f"{where}: {problem['msg']}") from error
        record = await self._record(reply["id"])
        return Answer(reply, record.get("calls", []), record.get("service_version", "unknown"), latency_ms)

    async def _post_when_free(
        self, headers: Mapping[str, str], body: Mapping[str, Any]
    ) -> tuple[httpx.Response, float]:
        give_up = time.perf_counter() + BUSY_SECONDS
        while True:
            began = time.perf_counter()
            response = await self._send("POST", "/consultations/check", headers=headers, json=body)
            seconds = time.perf_counter() - began
            if not _busy(response) or time.perf_counter() > give_up:
                return response, seconds * 1000
            await asyncio.sleep(min(30.0, max(0.2, _retry_after(response))))

    async def _record(self, consultation_id: str) -> dict[str, Any]:
        """Empty if this key may not read records: scores then rest on the service's word."""
        response = await self._send("GET", f"/consultations/{consultation_id}")
        if response.status_code in (401, 403):
            return {}
        if response.status_code != 200:
            raise NoAnswer(f"http_{response.status_code}", f"the record: {_problem(response)}")
        return _json(response)

    async def _send(self, method: str, path: str, **rest: Any) -> httpx.Response:
        try:
            return await self._http.request(method, path, **rest)
        except httpx.TimeoutException as error:
            raise NoAnswer("timeout", type(error).__name__) from error
        except httpx.HTTPError as error:
            raise NoAnswer("connection", str(error) or type(error).__name__) from error


def _busy(response: httpx.Response) -> bool:
    if response.status_code == 429:
        return True
    return response.status_code == 503 and response.text.find("problem:overloaded") >= 0


def _retry_after(response: httpx.Response) -> float:
    try:
        return float(response.headers.get("retry-after", "1"))
    except ValueError:
        return 1.0


def _problem(response: httpx.Response) -> str:
    """What a problem+json body says, or the beginning of whatever came."""
    try:
        body = response.json()
        if isinstance(body, dict) and "parts" in body:
            return "; ".join(f"{part}: {state}" for part, state in body["parts"].items() if state != "ok")
        return f"{response.status_code} {body['title']}: {body['detail']}"
    except (ValueError, KeyError, TypeError):
        return f"{response.status_code} {response.text[:200]!r}"


def _json(response: httpx.Response) -> dict[str, Any]:
    try:
        body = response.json()
        if isinstance(body, dict):
            return body
    except ValueError:
        pass
    raise NoAnswer("not_json", f"{response.status_code} {response.text[:200]!r}")
