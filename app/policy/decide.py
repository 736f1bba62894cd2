"""Facts in, decision out: pure, total and explained."""

import hashlib
import inspect
import sys
from dataclasses import dataclass

from app.policy import decision as decision_module
from app.policy import facts as facts_module
from app.policy import limits as limits_module
from app.policy import rules as rules_module
from app.policy.decision import Decision, TraceStep
from app.policy.facts import Facts
from app.policy.rules import RULES, Rule, Verdict


@dataclass(frozen=True)
class Policy:
    version: str
    content_hash: str
    """sha256 over the source of all that decides: same hash, same decisions."""
    rules: tuple[Rule, ...]


def decide(facts: Facts, policy: Policy) -> Decision:
    """Exactly one decision for any facts; the last rule always applies."""
    trace: list[TraceStep] = []
    verdict: Verdict | None = None
    deciding_rule = ""
    for rule in policy.rules:
        if verdict is not None:
            trace.append(TraceStep(rule.name, rule.clause, {}, "not_reached"))
            continue
        verdict = rule.verdict(facts)
        trace.append(TraceStep(rule.name, rule.clause, rule.inputs(facts), "decided" if verdict else "passed"))
        deciding_rule = rule.name
    assert verdict is not None, "the last rule of a policy applies to everything"
    return Decision(
        criteria_met=verdict.criteria_met,
        reason_code=verdict.reason_code,
        action=verdict.action,
        appointment=verdict.appointment,
        missing_facts=verdict.missing_facts,
        rule=deciding_rule,
        policy_version=policy.version,
        policy_hash=policy.content_hash,
        trace=tuple(trace),
    )


def _content_hash() -> str:
    modules = (limits_module, rules_module, decision_module, facts_module, sys.modules[__name__])
    source = "\n".join(inspect.getsource(module) for module in modules)
    return hashlib.sha256(source.encode()).hexdigest()


POLICY = Policy(version="1.0.0", content_hash=_content_hash(), rules=RULES)
