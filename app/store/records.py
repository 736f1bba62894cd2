"""What is kept of a check: written once, when it ends, whatever its end was."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

CallKind = Literal["decide", "extract", "narrate"]
CheckOutcome = Literal[
    "completed",  # an answer was given from usable model output
    "invalid_output",  # the model's output could not be used; the answer was an escalation
    "timed_out",
    "cancelled",  # the client went away
    "refused",  # refused after admission, e.g. the conversation does not fit the model
    "failed",  # the engine or the service failed
    "interrupted",  # the process died before the end of the check
]

ANSWERED: tuple[CheckOutcome, ...] = ("completed", "invalid_output")
"""Outcomes in which the caller got a decision."""


@dataclass(frozen=True)
class CallRecord:
    """One call of the model."""

    id: UUID
    kind: CallKind
    prompt_version: str
    prompt_hash: str
    """sha256 of the rendered messages."""
    schema_hash: str
    constrained: bool
    model: str
    started_at: datetime
    latency_ms: float
    temperature: float
    seed: int | None
    max_tokens: int
    finish_reason: str | None
    """stop, length or abort; None when the call raised."""
    prompt_tokens: int | None
    completion_tokens: int | None
    error: str | None
    """The error's class name when the call raised. Never customer text."""
    raw_output: str | None
    """Content: stored apart."""


@dataclass(frozen=True)
class CheckRecord:
    """One check with its calls. Fields marked content are stored apart, so that they can be erased."""

    id: UUID
    received_at: datetime
    """The moment "past" was measured against: the caller's `received_at`, else arrival."""
    started_at: datetime
    finished_at: datetime
    timezone: str
    conversation_id: str | None
    request_id: str
    caller: str
    design: str
    enforcement: str
    outcome: CheckOutcome
    error: str | None
    """Why no answer was given: the error's name."""
    service_version: str
    model: str
    facts: dict[str, Any] | None
    """Per fact: value, status, evidence as offsets only. Enough to recompute the decision."""
    decision: dict[str, Any] | None
    """criteria_met, reason_code, action, appointment, missing_facts."""
    policy_version: str
    policy_hash: str
    trace: list[dict[str, Any]] | None
    valid: bool | None
    strict_json: bool | None
    field_order_ok: bool | None
    consistent: bool | None
    flags: tuple[str, ...]
    narration_source: str | None
    """model or template."""
    usage: dict[str, int]
    timings_ms: dict[str, float]
    messages: tuple[dict[str, str], ...]
    """Content: {role, content}, oldest first."""
    response_text: str | None
    """Content."""
    calls: tuple[CallRecord, ...] = field(default=())
    idempotency_key: str | None = None
    """sha256 of the caller's Idempotency-Key, in hex."""
    fingerprint: str | None = None
    """sha256 of what was asked, in hex; set with the key."""
