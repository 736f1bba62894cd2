"""An analysis as text to read, CSV to load and JSON to keep."""

import csv
import io
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from eval.analysis import ALL, METRICS, Analysis, Cell, Comparison, Rate
from eval.compare import RunComparison
from eval.results import Results
from eval.score import Outcome


def as_text(results: Results, analysis: Analysis) -> str:
    """Everything."""
    return "\n\n".join([*_rates(results, analysis), *_tests(analysis)]) + "\n"


def summary(results: Results, analysis: Analysis) -> str:
    """Without the tests, which say little about a run that has just begun."""
    return "\n\n".join(_rates(results, analysis)) + "\n"


def _rates(results: Results, analysis: Analysis) -> list[str]:
    header = results.header
    groups = [group for group in dict.fromkeys(s.group for s in header.scenarios)]
    parts = [
        f"{len(results.checks)} checks, {len(results.errors)} without an answer; {len(header.scenarios)} scenarios of "
        f"{header.scenario_file} ({header.scenario_hash[:12]})\n"
        f"service {header.service_version}, model {header.model}, policy {header.policy_version} "
        f"({header.policy_hash[:12]}), eval at {header.eval_commit}, {header.machine}, "
        f"concurrency {header.concurrency}",
        "Fully right (action, reason code, criteria flag, appointment), 95 % Wilson interval\n"
        + _table(
            ["condition", "n", "fully right", "interval", "action right", *Outcome, "no answer"], _headline(analysis)
        ),
        "Fully right by group\n" + _table(["condition", *groups], _by_group(analysis, groups)),
        "Form\n"
        + _table(
            ["condition", "valid", "strict", "field order", "reply agrees"],
            [
                [
                    c.condition,
                    *(
                        _share(c.rates[m])
                        for m in ("valid_json", "strict_json", "field_order_ok", "response_consistent")
                    ),
                ]
                for c in _overall(analysis)
            ],
        ),
        "Cost, as the client saw it\n"
        + _table(
            ["condition", "mean s", "p50 s", "p95 s", "tokens read", "tokens written", "checks/min", "tokens/s"],
            _cost(analysis),
        ),
    ]
    facts = [[c.condition, *(_share(r) for r in c.facts.values())] for c in _overall(analysis) if c.facts]
    if facts:
        fields = next(iter(c.facts for c in analysis.cells if c.facts))
        parts.append("Facts right, as the policy saw them\n" + _table(["condition", *fields], facts))
    return parts


def _tests(analysis: Analysis) -> list[str]:
    parts = []
    if analysis.enforcement:
        parts.append("Constrained against unconstrained; Holm over each metric\n" + _comparisons(analysis.enforcement))
    if analysis.designs:
        parts.append(
            "Design against design, fully right; Holm over each enforcement\n" + _comparisons(analysis.designs)
        )
    parts.append(
        "Smallest drop in full correctness that this n shows (alpha 0.05, power 80 %)\n"
        + _table(
            ["condition", "if checks are independent", "if repeats say nothing new"],
            [[d.condition, _points(d.if_independent), _points(d.if_clustered)] for d in analysis.detectable],
        )
    )
    return parts


def comparison_text(before: Results, after: Results, compared: RunComparison) -> str:
    heads = ["condition", "before", "after", "only before right : only after", "McNemar p by scenario", "Holm"]
    rows = [
        [
            c.group,
            f"{_share(c.first_rate)} of {c.first_rate.total}",
            f"{_share(c.second_rate)} of {c.second_rate.total}",
            f"{c.discordant.only_first} : {c.discordant.only_second}", _p(c.mcnemar_p), _p(c.mcnemar_holm),
        ]
        for c in compared.comparisons
    ]  # fmt: skip
    changes = [
        [c.condition, c.scenario, f"{c.before:.0%}", f"{c.after:.0%}", f"{c.unsafe_before}", f"{c.unsafe_after}"]
        for c in compared.changes
    ]
    parts = [
        f"before: {_made_of(before)}\nafter:  {_made_of(after)}",
        "Fully right, on the same scenarios\n" + _table(heads, rows),
        "Scenarios that changed\n"
        + (_table(["condition", "scenario", "before", "after", "unsafe before", "unsafe after"], changes)
           if changes else "none"),
    ]  # fmt: skip
    return "\n\n".join(parts) + "\n"


def _made_of(results: Results) -> str:
    header = results.header
    prompts = ", ".join(sorted({version for check in results.checks for version in check.prompt_versions}))
    return (
        f"{results.path.name}: {header.model}, service {header.service_version}, policy {header.policy_version} "
        f"({header.policy_hash[:12]}), prompts {prompts or 'not shown'}, eval at {header.eval_commit}"
    )


def as_csv(analysis: Analysis) -> str:
    """One line a condition and group."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    rates = [f"{metric}{part}" for metric in METRICS for part in ("", "_low", "_high")]
    writer.writerow(
        ["condition", "group", "checks", "errors", *rates, *Outcome, "latency_mean_ms", "latency_p50_ms",
         "latency_p95_ms", "prompt_tokens_mean", "completion_tokens_mean"]
    )  # fmt: skip
    for cell in analysis.cells:
        figures = [
            f"{value:.6f}"
            for rate in cell.rates.values()
            for value in (rate.share, rate.interval.low, rate.interval.high)
        ]
        costs = (
            cell.latency_mean_ms, cell.latency_p50_ms, cell.latency_p95_ms, cell.prompt_tokens_mean,
            cell.completion_tokens_mean,
        )  # fmt: skip
        writer.writerow(
            [cell.condition, cell.group, cell.checks, cell.errors, *figures, *cell.outcomes.values(),
             *(f"{cost:.3f}" for cost in costs)]
        )  # fmt: skip
    return out.getvalue()


def as_json(results: Results, analysis: Analysis) -> str:
    header = {name: value for name, value in vars(results.header).items() if name != "scenarios"}
    return json.dumps({"run": header} | asdict(analysis), indent=1, ensure_ascii=False) + "\n"


def _overall(analysis: Analysis) -> list[Cell]:
    return [cell for cell in analysis.cells if cell.group == ALL]


def _headline(analysis: Analysis) -> Iterable[list[str]]:
    for cell in _overall(analysis):
        rate = cell.rates["fully_correct"]
        interval = f"{rate.interval.low:.1%} - {rate.interval.high:.1%}"
        yield [
            cell.condition, str(rate.total), _share(rate), interval, _share(cell.rates["decision_correct"]),
            *(str(n) for n in cell.outcomes.values()), str(cell.errors),
        ]  # fmt: skip


def _by_group(analysis: Analysis, groups: Sequence[str]) -> Iterable[list[str]]:
    for cell in _overall(analysis):
        by_group = {c.group: c.rates["fully_correct"] for c in analysis.cells if c.condition == cell.condition}
        yield [cell.condition, *(_share(by_group[group]) if group in by_group else "-" for group in groups)]


def _cost(analysis: Analysis) -> Iterable[list[str]]:
    speed = {t.condition: t for t in analysis.throughput}
    for cell in _overall(analysis):
        seconds = (cell.latency_mean_ms, cell.latency_p50_ms, cell.latency_p95_ms)
        throughput = speed[cell.condition]
        yield [
            cell.condition, *(f"{ms / 1000:.2f}" for ms in seconds),
            f"{cell.prompt_tokens_mean:.0f}", f"{cell.completion_tokens_mean:.0f}",
            f"{throughput.checks_per_minute:.1f}", f"{throughput.completion_tokens_per_second:.1f}",
        ]  # fmt: skip


def _comparisons(comparisons: Iterable[Comparison]) -> str:
    rows = [
        [
            c.first, c.second, c.group, c.metric, f"{_share(c.first_rate)} : {_share(c.second_rate)}",
            f"{c.discordant.only_first} : {c.discordant.only_second}",
            _p(c.fisher_p), _p(c.fisher_holm), _p(c.mcnemar_p), _p(c.mcnemar_holm),
        ]
        for c in comparisons
    ]  # fmt: skip
    heads = ["first", "second", "group", "metric", "rates", "only one right", "Fisher p", "Holm", "McNemar p", "Holm"]
    return _table(heads, rows)


def _table(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    lines = [[str(value) for value in row] for row in (heads, *rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    return "\n".join(
        "  ".join(value.ljust(width) for value, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def _share(rate: Rate) -> str:
    return "-" if math.isnan(rate.share) else f"{rate.share:.1%}"


def _p(value: float) -> str:
    return f"{value:.3f}" if value >= 0.001 else f"{value:.0e}"


def _points(value: float) -> str:
    return f"{value * 100:.1f} points"
