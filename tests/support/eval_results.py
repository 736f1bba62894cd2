"""Results of an eval, made up for tests."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from eval import scenarios
from eval.results import CheckError, CheckResult, Header, Results, ResultsWriter, new_header, read_results
from eval.scenarios import OWN, ScenarioSet
from eval.score import Outcome

CHOSEN = scenarios.load(OWN)


def header(chosen: ScenarioSet = CHOSEN, **changes: Any) -> Header:
    made = {
        "service_version": "0.1.0",
        "model": "small/int8",
        "policy_version": "1.0.0",
        "policy_hash": "a" * 64,
        "eval_commit": "0123456789ab",
        "python": "3.11.7",
        "machine": "a machine, 2 cores",
        "concurrency": 8,
        "runs": 2,
        "base_url": "http://127.0.0.1:8000",
    }
    return new_header(chosen, **made | changes)


def check(
    scenario: str, run_index: int = 0, condition: str = "pipeline/constrained", right: bool = True, **changes: Any
) -> CheckResult:
    """A wrong one is an unsafe booking."""
    design, _, enforcement = condition.partition("/")
    known = header().by_id[scenario]
    made = {
        "scenario": scenario,
        "group": known.group,
        "run_index": run_index,
        "design": design,
        "enforcement": enforcement,
        "seed": 1,
        "block": 0,
        "session": "2026-11-30T12:00:00+00:00",
        "started_seconds": 0.0,
        "latency_ms": 1000.0,
        "outcome": Outcome.RIGHT if right else Outcome.UNSAFE,
        "valid_json": True,
        "strict_json": True,
        "field_order_ok": True,
        "judged_by": "eval",
        "decision_correct": right,
        "fully_correct": right,
        "facts_right": None,
        "response_consistent": True,
        "flags": [],
        "narration_source": "model",
        "action": known.action.value if right else "book_appointment",
        "reason_code": known.reason_code.value if right else "eligible",
        "criteria_met": known.criteria_met if right else True,
        "appointment": None,
        "response_text": "Thank you.",
        "facts": None,
        "prompt_tokens": 300,
        "completion_tokens": 60,
        "finish_reasons": ["stop"],
        "prompt_versions": ["base/1"],
        "raw_outputs": ["{}"],
        "timings_ms": {"total": 1000.0},
        "peak_gpu_memory_mib": None,
        "model": "small/int8",
        "service_version": "0.1.0",
        "policy_version": "1.0.0",
        "policy_hash": "a" * 64,
        "consultation_id": "01900000-0000-7000-8000-000000000000",
    }
    return CheckResult(**made | changes)


def failed(scenario: str, run_index: int = 0, condition: str = "pipeline/constrained", attempt: int = 1) -> CheckError:
    design, _, enforcement = condition.partition("/")
    group = header().by_id[scenario].group
    return CheckError(scenario, group, run_index, design, enforcement, 1, attempt, "timeout", "ReadTimeout")


def every(right: bool = True, condition: str = "pipeline/constrained", runs: int = 1) -> list[CheckResult]:
    return [check(s.id, run, condition, right) for run in range(runs) for s in CHOSEN.scenarios]


def write(path: Path, records: Iterable[CheckResult | CheckError], head: Header | None = None) -> Path:
    writer = ResultsWriter(path)
    writer.header(head or header())
    for record in records:
        writer.add(record)
    writer.close()
    return path


def results(path: Path, records: Iterable[CheckResult | CheckError], head: Header | None = None) -> Results:
    return read_results(write(path, records, head))


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]
