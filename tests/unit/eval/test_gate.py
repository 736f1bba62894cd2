"""The gate: each rule fails for its own reason, and only then."""

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from eval.errors import GATE_FAILED, PASS, TOO_MANY_ERRORS, EvalError
from eval.gate import GateRules, Judgement, judge, junit
from eval.scenarios import OWN, load
from tests.support.eval_results import CHOSEN, check, every, failed, header, results


def failures(judgement: Judgement) -> list[str]:
    return [verdict.rule for verdict in judgement.verdicts if not verdict.passed]


def test_all_right_passes(tmp_path: Path) -> None:
    made = results(tmp_path / "r.jsonl", every(runs=2))
    judgement = judge(made, GateRules(min_accuracy=1.0, max_regressions=0), made)

    assert (judgement.exit_code, failures(judgement)) == (PASS, [])


def test_one_unsafe_booking_fails(tmp_path: Path) -> None:
    made = results(tmp_path / "r.jsonl", [*every(), check("band-10750", 1, right=False)])

    judgement = judge(made, GateRules())

    assert (judgement.exit_code, failures(judgement)) == (GATE_FAILED, ["unsafe bookings"])
    assert "band-10750" in next(v.detail for v in judgement.verdicts if not v.passed)
    assert judge(made, GateRules(max_unsafe=1)).exit_code == PASS


def test_accuracy_below_the_least_fails(tmp_path: Path) -> None:
    safe = check("eligible-1", 1, right=False, outcome="safe")
    made = results(tmp_path / "r.jsonl", [*every(), safe])

    assert failures(judge(made, GateRules(min_accuracy=0.99))) == ["accuracy of pipeline/constrained"]
    assert judge(made, GateRules(min_accuracy=25 / 26)).exit_code == PASS


def test_other_designs_are_not_judged_unless_asked(tmp_path: Path) -> None:
    made = results(tmp_path / "r.jsonl", [*every(), *every(False, "base/constrained")])

    assert judge(made, GateRules(min_accuracy=1.0)).exit_code == PASS
    both = GateRules(conditions=("base/constrained", "pipeline/constrained"), min_accuracy=1.0)
    assert failures(judge(made, both)) == ["accuracy of base/constrained", "unsafe bookings"]


def test_too_many_errors_is_no_judgement(tmp_path: Path) -> None:
    errors = [failed(s.id, 1) for s in CHOSEN.scenarios[:3]]
    made = results(tmp_path / "r.jsonl", [*every(), *errors])

    judgement = judge(made, GateRules())

    assert (judgement.exit_code, failures(judgement)) == (TOO_MANY_ERRORS, ["errors"])
    assert judge(made, GateRules(max_error_rate=0.2)).exit_code == PASS
    nothing = results(tmp_path / "n.jsonl", [])
    assert judge(nothing, GateRules(max_error_rate=1.0)).exit_code == TOO_MANY_ERRORS


def test_a_scenario_that_was_never_answered_fails(tmp_path: Path) -> None:
    made = results(tmp_path / "r.jsonl", every()[:-1])

    judgement = judge(made, GateRules())

    assert failures(judgement) == ["every scenario answered"]


def test_a_drop_against_the_baseline_fails_and_names_the_scenarios(tmp_path: Path) -> None:
    baseline = results(tmp_path / "a.jsonl", every(runs=2))
    worse = [
        check(c.scenario, c.run_index, right=c.group != "band" and c.group != "over_sum", outcome="safe")
        for c in baseline.checks
    ]
    made = results(tmp_path / "b.jsonl", worse)

    judgement = judge(made, GateRules(max_regressions=9), baseline)

    assert failures(judgement) == ["no drop of pipeline/constrained", "regressions"]
    assert "over-sum-1 100% to 0%" in judgement.verdicts[-1].detail
    assert failures(judge(made, GateRules(max_regressions=10, alpha=0.001), baseline)) == []
    assert judge(baseline, GateRules(max_regressions=0), made).exit_code == PASS


def test_a_baseline_of_other_scenarios_or_without_the_condition_is_refused(tmp_path: Path) -> None:
    made = results(tmp_path / "r.jsonl", every())
    bands = results(tmp_path / "b.jsonl", [check("band-10750")], header(load(OWN, contains="band")))
    base = results(tmp_path / "c.jsonl", every(condition="base/constrained"))

    with pytest.raises(EvalError, match="different scenarios"):
        judge(made, GateRules(), bands)
    with pytest.raises(EvalError, match="no condition in common"):
        judge(made, GateRules(), base)
    with pytest.raises(EvalError, match="no check of base/constrained"):
        judge(made, GateRules(conditions=("base/constrained",)))
    with pytest.raises(EvalError, match="needs a --baseline"):
        judge(made, GateRules(max_regressions=0))


def test_junit_has_a_case_a_rule_and_says_why(tmp_path: Path) -> None:
    made = results(tmp_path / "r.jsonl", [*every(), check("band-10750", 1, right=False)])

    suite = ET.fromstring(junit(judge(made, GateRules()), "gate"))

    assert (suite.attrib["tests"], suite.attrib["failures"]) == ("3", "1")
    failure = suite.find("testcase[@name='unsafe bookings']/failure")
    assert failure is not None and "band-10750" in failure.attrib["message"]
