"""Scenarios: customer messages with their known facts and outcomes, from our own format or a file of labelled cases."""

import hashlib
import json
from dataclasses import dataclass
from datetime import date, time
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError, model_validator

from app.policy import Action, ReasonCode
from eval.errors import EvalError

OWN = Path(__file__).parent / "scenarios.json"
CONTROL_GROUP = "insufficient_info"
FACT_FIELDS = ("customer_age", "price_components", "requested_date", "requested_time")


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Turn(_Closed):
    role: Literal["customer", "assistant"]
    content: str


class Facts(_Closed):
    """What the messages say. Prices are in pounds, one per item wanted."""

    customer_age: int | None
    price_components: list[Decimal]
    requested_date: date | None
    requested_time: time | None


class Appointment(_Closed):
    date: date
    time: time


class Scenario(_Closed):
    id: Annotated[str, Field(min_length=1)]
    group: str
    turns: tuple[Turn, ...]
    plain: bool
    """One message sent as `message`; otherwise the turns are sent as `messages`."""
    received_at: AwareDatetime
    timezone: str
    facts: Facts
    undeterminable: frozenset[str]
    """Fields, as in Facts, that the text touches on without settling them."""
    criteria_met: bool
    reason_code: ReasonCode
    action: Action
    appointment: Appointment | None

    def body(self, seed: int) -> dict[str, Any]:
        """Of POST /consultations/check."""
        text: dict[str, Any] = (
            {"message": self.turns[0].content}
            if self.plain
            else {"messages": [turn.model_dump() for turn in self.turns]}
        )
        return text | {
            "received_at": self.received_at.isoformat(),
            "timezone": self.timezone,
            "sampling": {"seed": seed},
        }

    @property
    def total(self) -> Decimal:
        """Pounds."""
        return sum(self.facts.price_components, Decimal(0))


@dataclass(frozen=True)
class ScenarioSet:
    name: str
    sha256: str
    """Of the scenarios chosen, not of the file: a filtered set is another set."""
    scenarios: tuple[Scenario, ...]


def load(path: Path, *, controls: bool = False, contains: str = "", limit: int | None = None) -> ScenarioSet:
    """`contains` keeps ids and groups that hold the text; `controls` applies to our own format.

    Raises EvalError naming the file and what is wrong with it.
    """
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise EvalError(f"{path}: cannot be read: {error}") from error
    found = _from_lines(path, text) if path.suffix == ".jsonl" else _from_document(path, text)
    if repeated := _repeated([scenario.id for scenario in found]):
        raise EvalError(f"{path}: the id {repeated!r} is used twice")
    if not controls and path.suffix != ".jsonl":
        found = [scenario for scenario in found if scenario.group != CONTROL_GROUP]
    found = [scenario for scenario in found if contains in scenario.id or contains in scenario.group][:limit]
    if not found:
        raise EvalError(f"{path}: no scenario is left after --filter {contains!r}")
    return ScenarioSet(path.name, _digest(found), tuple(found))


def dump(scenario: Scenario) -> dict[str, Any]:
    """As JSON; `Scenario.model_validate` reads it back."""
    return scenario.model_dump(mode="json") | {"undeterminable": sorted(scenario.undeterminable)}


class _OwnScenario(_Closed):
    id: str
    group: str
    message: str
    facts: Facts
    criteria_met: bool
    reason_code: ReasonCode
    action: Action
    appointment: Appointment | None


class _OwnFile(_Closed):
    about: str
    received_at: AwareDatetime
    timezone: str
    scenarios: list[_OwnScenario]


class _Case(BaseModel):
    """A labelled message of real life; keys that only explain the label are left aside."""

    id: str
    kind: str
    message: str | None = None
    messages: list[Turn] | None = None
    received_at: AwareDatetime
    facts: Facts
    undeterminable: list[Literal["age", "total", "date", "time"]]
    action: Action
    reason_code: ReasonCode

    @model_validator(mode="after")
    def _one_of_both(self) -> "_Case":
        if (self.message is None) == (self.messages is None):
            raise ValueError("exactly one of message and messages must be given")
        return self


_FIELD_OF = {
    "age": "customer_age",
    "total": "price_components",
    "date": "requested_date",
    "time": "requested_time",
}


def _from_document(path: Path, text: str) -> list[Scenario]:
    try:
        file = _OwnFile.model_validate_json(text)
    except ValidationError as error:
        raise EvalError(f"{path}: {_first(error)}") from error
    return [
        Scenario(
            **{name: getattr(own, name) for name in _OwnScenario.model_fields if name != "message"},
            turns=(Turn(role="customer", content=own.message),),
            plain=True,
            received_at=file.received_at,
            timezone=file.timezone,
            undeterminable=frozenset(),
        )
        for own in file.scenarios
    ]


def _from_lines(path: Path, text: str) -> list[Scenario]:
    scenarios = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            scenarios.append(_from_case(_Case.model_validate_json(line)))
        except ValidationError as error:
            raise EvalError(f"{path}, line {number}: {_first(error)}") from error
    return scenarios


def _from_case(case: _Case) -> Scenario:
    books = case.action is Action.BOOK_APPOINTMENT
    turns = case.messages or [Turn(role="customer", content=case.message or "")]
    return Scenario(
        id=case.id,
        group=case.kind,
        turns=tuple(turns),
        plain=case.messages is None,
        received_at=case.received_at,
        timezone="Europe/London",
        facts=case.facts,
        undeterminable=frozenset(_FIELD_OF[name] for name in case.undeterminable),
        criteria_met=books,
        reason_code=case.reason_code,
        action=case.action,
        appointment=Appointment.model_validate({"date": case.facts.requested_date, "time": case.facts.requested_time})
        if books
        else None,
    )


def _first(error: ValidationError) -> str:
    problem = error.errors()[0]
    where = ".".join(str(part) for part in problem["loc"])
    return f"{where}: {problem['msg']}" if where else problem["msg"]


def _repeated(ids: list[str]) -> str | None:
    return next((name for n, name in enumerate(ids) if name in ids[:n]), None)


def _digest(scenarios: list[Scenario]) -> str:
    return hashlib.sha256(json.dumps([dump(scenario) for scenario in scenarios], sort_keys=True).encode()).hexdigest()
