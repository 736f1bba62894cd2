"""Rates, comparisons and tables of made-up results, also where a cell is empty, all right or all wrong."""

import csv
import io
import json
from pathlib import Path

import pytest

from eval.analysis import analyze
from eval.compare import compare_runs
from eval.errors import EvalError
from eval.scenarios import OWN, load
from eval.tables import as_csv, as_json, as_text, comparison_text
from tests.support.eval_results import CHOSEN, check, every, failed, header, results

TWO = ("base/constrained", "base/unconstrained")


def test_rates_are_by_condition_and_group_and_errors_are_in_none(tmp_path: Path) -> None:
    band = [check(s.id, 0, TWO[0], right=False) for s in CHOSEN.scenarios if s.group == "band"]
    rest = [check(s.id, 0, TWO[0]) for s in CHOSEN.scenarios if s.group != "band"]
    made = results(tmp_path / "r.jsonl", [*band, *rest, failed("band-10000", 1, TWO[0])])

    analysis = analyze(made)

    whole, only_band = analysis.cell(TWO[0]), analysis.cell(TWO[0], "band")
    assert (whole.rates["fully_correct"].passed, whole.checks, whole.errors) == (20, 25, 1)
    assert (only_band.rates["fully_correct"].share, only_band.outcomes["unsafe"], only_band.errors) == (0.0, 5, 1)
    assert analysis.cell(TWO[0], "eligible").rates["fully_correct"].interval.high == pytest.approx(1.0)


def test_enforcement_is_compared_by_group_with_holm_over_the_metric(tmp_path: Path) -> None:
    made = results(tmp_path / "r.jsonl", [*every(True, TWO[0], 2), *every(False, TWO[1], 2)])

    comparisons = {(c.group, c.metric): c for c in analyze(made).enforcement}

    assert len(comparisons) == 6 * 2
    whole = comparisons["all", "fully_correct"]
    assert (whole.discordant.only_first, whole.discordant.only_second) == (50, 0)
    assert whole.mcnemar_p == pytest.approx(2 / 2**25)
    assert whole.fisher_p < whole.mcnemar_p
    band = comparisons["band", "fully_correct"]
    assert band.mcnemar_p == pytest.approx(2 / 2**5)
    assert band.mcnemar_holm == pytest.approx(5 * 2 / 2**5)
    assert comparisons["all", "valid_json"].fisher_p == 1.0


def test_designs_are_compared_in_pairs_under_the_same_enforcement(tmp_path: Path) -> None:
    conditions = [f"{design}/constrained" for design in ("base", "reasoned", "tiered", "table")]
    made = results(tmp_path / "r.jsonl", [record for name in conditions for record in every(True, name)])

    analysis = analyze(made)

    assert len(analysis.designs) == 6
    assert {comparison.mcnemar_holm for comparison in analysis.designs} == {1.0}
    assert analysis.enforcement == ()


def test_throughput_leaves_out_the_pause_between_two_sittings(tmp_path: Path) -> None:
    first = [check("eligible-1", started_seconds=0.0), check("eligible-2", started_seconds=1.0)]
    second = [check("eligible-3", started_seconds=5.0, session="2026-12-01T00:00:00+00:00")]

    throughput = analyze(results(tmp_path / "r.jsonl", [*first, *second])).throughput[0]

    assert throughput.checks_per_minute == pytest.approx(3 * 60 / (2.0 + 1.0))
    assert throughput.completion_tokens_per_second == pytest.approx(180 / 3.0)


def test_the_same_figures_come_as_text_csv_and_json(tmp_path: Path) -> None:
    made = results(tmp_path / "r.jsonl", [*every(True, TWO[0]), *every(False, TWO[1]), check("eligible-1", 1)])
    analysis = analyze(made)

    text, table, document = as_text(made, analysis), as_csv(analysis), json.loads(as_json(made, analysis))

    rows = {(row["condition"], row["group"]): row for row in csv.DictReader(io.StringIO(table))}
    assert float(rows[TWO[0], "all"]["fully_correct"]) == 1.0
    assert float(rows[TWO[1], "all"]["fully_correct"]) == 0.0
    assert float(rows[TWO[0], "all"]["fully_correct_low"]) == pytest.approx(0.8668, abs=1e-4)
    assert document["run"]["model"] == "small/int8"
    assert document["cells"][0]["rates"]["fully_correct"] == {"passed": 25, "total": 25}
    assert "86.7% - 100.0%" in text and "small/int8" in text and "points" in text


def test_two_runs_are_compared_scenario_by_scenario(tmp_path: Path) -> None:
    before = results(tmp_path / "a.jsonl", every(True, runs=2))
    worse = [
        check(c.scenario, c.run_index, right=(c.scenario, c.run_index) != ("band-10750", 1)) for c in before.checks
    ]
    after = results(tmp_path / "b.jsonl", worse)

    compared = compare_runs(before, after)

    found = [(c.scenario, c.before, c.after, c.unsafe_before, c.unsafe_after) for c in compared.changes]
    assert found == [("band-10750", 1.0, 0.5, 0, 1)]
    assert compared.regressions == compared.changes
    assert compare_runs(after, before).regressions == ()
    assert "band-10750" in comparison_text(before, after, compared)


def test_runs_of_other_scenarios_are_not_compared(tmp_path: Path) -> None:
    before = results(tmp_path / "a.jsonl", every())
    bands = load(OWN, contains="band")
    after = results(tmp_path / "b.jsonl", [check("band-10750")], header(bands))

    with pytest.raises(EvalError, match="different scenarios"):
        compare_runs(before, after)
    other = results(tmp_path / "c.jsonl", every(condition="base/constrained"))
    with pytest.raises(EvalError, match="no condition in common"):
        compare_runs(before, other)
