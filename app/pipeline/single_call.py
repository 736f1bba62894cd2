"""Designs 1 to 4: the model decides inside its own schema, and its decision is returned as it is."""

import json

from app.llm.engine import Engine
from app.pipeline.consistency import inconsistencies
from app.pipeline.designs import SINGLE_CALL_DESIGNS
from app.pipeline.parse import ParsedOutput, parse_output
from app.pipeline.result import AppointmentText, CheckResult
from app.pipeline.run_log import RunLog
from app.pipeline.wording import HANDED_OVER
from app.policy import POLICY_TEXT, Action, ReasonCode


async def run_single_call(engine: Engine, log: RunLog) -> CheckResult:
    call = SINGLE_CALL_DESIGNS[log.request.design]
    user = f"{_clock_line(log)}\n{log.request.customer_text}"
    with log.timed("decide"):
        generation = await log.ask(engine, "decide", call, user)
        output = parse_output(generation, call.schema)
    if output.value is None:
        return _escalation(log, output)
    value = output.value
    action, appointment = Action(value["action"]), value["appointment"]
    explained = json.dumps({k: v for k, v in value.items() if k != "response_text"}, default=str)
    flags = inconsistencies(
        action, appointment is not None, value["response_text"], f"{user}\n{POLICY_TEXT}\n{explained}"
    )
    log.flags.extend(flags)
    return CheckResult(
        criteria_met=value["eligibility"]["criteria_met"],
        reason_code=ReasonCode(value["eligibility"]["reason_code"]),
        action=action,
        appointment=AppointmentText(appointment["date"], appointment["time"]) if appointment else None,
        response_text=value["response_text"],
        facts=None,
        missing_facts=(),
        trace=(),
        valid=True,
        strict_json=output.strict,
        field_order_ok=output.field_order_ok,
        consistent=not flags,
        narration_source="model",
    )


def _clock_line(log: RunLog) -> str:
    """The model resolves "tomorrow" itself in these designs, so it is told what day it is."""
    now = log.request.received_at.astimezone(log.request.timezone)
    return f"Received on {now:%A} {now.day} {now:%B %Y} at {now:%H:%M}."


def _escalation(log: RunLog, output: ParsedOutput) -> CheckResult:
    """Output that cannot be used is never a booking."""
    log.flags.append(str(output.flag))
    return CheckResult(
        criteria_met=False,
        reason_code=ReasonCode.INSUFFICIENT_INFO,
        action=Action.ESCALATE_HUMAN,
        appointment=None,
        response_text=HANDED_OVER,
        facts=None,
        missing_facts=(),
        trace=(),
        valid=False,
        strict_json=output.strict,
        field_order_ok=output.field_order_ok,
        consistent=True,
        narration_source="template",
    )
