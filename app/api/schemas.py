"""The wire: what a request may hold and what an answer holds."""

import re
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID
from zoneinfo import ZoneInfo, available_timezones

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictInt,
    StrictStr,
    model_validator,
)

from app.llm.engine import MAX_SEED
from app.pipeline.design import DesignName, Enforcement
from app.policy import Action, ReasonCode

MAX_MESSAGE_CHARACTERS = 8_000
MAX_MESSAGES = 50
DEFAULT_TIMEZONE = "Europe/London"
CONVERSATION_ID = r"^[\x21-\x7e]{1,200}$"

_RFC_3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)")
_TIMEZONES = frozenset(available_timezones())


def _storable(text: str) -> str:
    if "\x00" in text:
        raise ValueError("must not contain the character U+0000")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError("must be valid Unicode without lone surrogates")
    return text


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be empty")
    return text


def _rfc_3339(value: Any) -> datetime:
    if not isinstance(value, str) or not _RFC_3339.fullmatch(value):
        raise ValueError("must be a moment with a UTC offset as in RFC 3339, e.g. 2026-11-29T18:00:00Z")
    moment = datetime.fromisoformat(value.upper().replace(" ", "T"))
    if not 2000 <= moment.year < 2100:
        raise ValueError("must lie between the years 2000 and 2099")
    return moment


def _known_timezone(name: str) -> str:
    if name not in _TIMEZONES:
        raise ValueError("must be an IANA time zone, e.g. Europe/London")
    return name


Text = Annotated[StrictStr, AfterValidator(_storable), AfterValidator(_not_blank)]
Moment = Annotated[datetime, BeforeValidator(_rfc_3339)]


class Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")


class MessageIn(Closed):
    role: Literal["customer", "assistant"]
    content: Text


class SamplingIn(Closed):
    """Reproduces or varies the model's words. Temperature 0 draws nothing."""

    seed: Annotated[StrictInt, Field(ge=0, le=MAX_SEED)] | None = None
    temperature: Annotated[float, Field(strict=True, ge=0, le=2, allow_inf_nan=False)] | None = None


class CheckIn(Closed):
    """A customer's message, or the conversation that ends with it."""

    message: Annotated[Text, Field(max_length=MAX_MESSAGE_CHARACTERS)] | None = None
    messages: Annotated[list[MessageIn], Field(min_length=1, max_length=MAX_MESSAGES)] | None = None
    received_at: Annotated[Moment, Field(json_schema_extra={"type": "string", "format": "date-time"})] | None = None
    """When the customer wrote; "past" and "tomorrow" are measured from it. Default: now."""
    timezone: Annotated[StrictStr, AfterValidator(_known_timezone)] = DEFAULT_TIMEZONE
    """IANA name of the clinic's time zone."""
    conversation_id: Annotated[StrictStr, Field(pattern=CONVERSATION_ID)] | None = None
    sampling: SamplingIn = SamplingIn()

    @model_validator(mode="after")
    def _one_of_both(self) -> "CheckIn":
        if (self.message is None) == (self.messages is None):
            raise ValueError("exactly one of message and messages must be given")
        if self.messages is not None:
            if self.messages[-1].role != "customer":
                raise ValueError("messages must end with a message of the customer")
            if sum(len(message.content) for message in self.messages) > MAX_MESSAGE_CHARACTERS:
                raise ValueError(f"messages must hold at most {MAX_MESSAGE_CHARACTERS} characters together")
        return self

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.timezone)


class Eligibility(BaseModel):
    criteria_met: bool
    reason_code: ReasonCode


class AppointmentOut(BaseModel):
    date: str
    time: str


class EvidenceOut(BaseModel):
    """`text` is `content[start:end]` of that turn of the conversation, counted in code points."""

    turn: int
    start: int
    end: int
    text: str | None = None


class FactOut(BaseModel):
    value: Any
    status: str
    note: str
    agreement: str
    """Of the model with the text: agreed, completed, overruled, disagreed, or none where only one of them speaks."""
    evidence: list[EvidenceOut]


class TraceStepOut(BaseModel):
    rule: str
    clause: str
    inputs: dict[str, str | int | None]
    outcome: str


class PolicyOut(BaseModel):
    version: str
    hash: str
    trace: list[TraceStepOut]
    """Empty for designs in which the model decides."""


class UsageOut(BaseModel):
    calls: int
    prompt_tokens: int
    completion_tokens: int


class CheckOut(BaseModel):
    id: UUID
    design: DesignName
    enforcement: Enforcement
    eligibility: Eligibility
    action: Action
    appointment: AppointmentOut | None
    response_text: str
    facts: dict[str, FactOut] | None
    missing_facts: list[str]
    policy: PolicyOut
    valid: bool
    strict_json: bool
    field_order_ok: bool
    consistent: bool
    flags: list[str]
    narration_source: str
    model: str
    usage: UsageOut
    timings_ms: dict[str, float]


class FactsEvent(BaseModel):
    """What was understood; null for designs in which the model decides."""

    facts: dict[str, FactOut] | None
    missing_facts: list[str]


class DecisionEvent(BaseModel):
    """Told once it is kept, before any words."""

    id: UUID
    design: DesignName
    enforcement: Enforcement
    eligibility: Eligibility
    action: Action
    appointment: AppointmentOut | None
    missing_facts: list[str]
    policy: PolicyOut


class NarrationEvent(BaseModel):
    """More of the reply, or all of it anew."""

    text: str
    replaces: bool
    """True: what came before is void, show this in its place."""


class CallOut(BaseModel):
    id: UUID
    kind: str
    prompt_version: str
    prompt_hash: str
    schema_hash: str
    constrained: bool
    model: str
    started_at: datetime
    latency_ms: float
    temperature: float
    seed: int | None
    max_tokens: int
    finish_reason: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    error: str | None
    raw_output: str | None
    """Null if the model gave none, or once it is erased."""


class StoredCheckOut(BaseModel):
    """A check as it is kept. What no answer came to is null."""

    id: UUID
    received_at: datetime
    started_at: datetime
    finished_at: datetime
    timezone: str
    conversation_id: str | None
    request_id: str
    design: str
    enforcement: str
    outcome: str
    error: str | None
    service_version: str
    model: str
    eligibility: Eligibility | None
    action: Action | None
    appointment: AppointmentOut | None
    missing_facts: list[str]
    facts: dict[str, FactOut] | None
    policy: PolicyOut
    valid: bool | None
    strict_json: bool | None
    field_order_ok: bool | None
    consistent: bool | None
    flags: list[str]
    narration_source: str | None
    usage: dict[str, int]
    timings_ms: dict[str, float]
    messages: list[dict[str, str]] | None
    """The customer's text; null once it is erased."""
    response_text: str | None
    """Null if there was no answer, or once it is erased."""
    calls: list[CallOut]


class ReceiptOut(BaseModel):
    """Of an erasure; kept for good."""

    id: UUID
    consultation_id: UUID | None
    conversation_id: str | None
    requested_by: str
    requested_at: datetime
    contents_erased: int
    """Checks whose messages and reply were there and are gone."""
    calls_erased: int
    """Calls whose raw output was there and is gone."""
