"""One static page of a run: tables, charts, and the failures to read one by one. No outside assets, no script."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from eval import charts
from eval.analysis import ALL, Analysis, in_order
from eval.errors import EvalError
from eval.results import CheckResult, Results
from eval.scenarios import Scenario

TEMPLATE = "report.html.jinja"
MAX_FAILURES_A_CONDITION = 40


@dataclass(frozen=True)
class Failure:
    """Equal wrong answers to one scenario under one condition, shown by the first."""

    scenario: Scenario
    first: CheckResult
    count: int
    of: int


@dataclass(frozen=True)
class ConditionFailures:
    condition: str
    shown: tuple[Failure, ...]
    left_out: int


def write_report(results: Results, analysis: Analysis, path: Path) -> None:
    """Raises EvalError if the page cannot be written."""
    page = render(results, analysis)
    try:
        path.write_text(page, "utf-8")
    except OSError as error:
        raise EvalError(f"--out {path}: cannot be written: {error.strerror}") from error


def render(results: Results, analysis: Analysis) -> str:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    environment.filters |= {"percent": _percent, "p": _p, "pretty": _pretty}
    groups = _groups(results)
    return environment.get_template(TEMPLATE).render(
        results=results,
        header=results.header,
        analysis=analysis,
        overall=[cell for cell in analysis.cells if cell.group == ALL],
        groups=groups,
        by_group={(cell.condition, cell.group): cell.rates["fully_correct"] for cell in analysis.cells},
        speed={throughput.condition: throughput for throughput in analysis.throughput},
        # Drawn here from numbers and names of closed sets; everything else is escaped.
        pictures={name: Markup(picture) for name, picture in pictures(results, analysis).items()},  # noqa: S704
        failures=list(_failures(results)),
    )


def pictures(results: Results, analysis: Analysis) -> dict[str, str]:
    """SVG by name. `distance` is missing where no total lies above the limit."""
    drawn = {
        "accuracy": charts.accuracy_by_group(analysis, _groups(results)),
        "distance": charts.accuracy_by_distance(results),
        "latency": charts.latency(results),
    }
    return {name: picture for name, picture in drawn.items() if picture is not None}


def _groups(results: Results) -> list[str]:
    return list(dict.fromkeys(scenario.group for scenario in results.header.scenarios))


def _failures(results: Results) -> Iterable[ConditionFailures]:
    by_id = results.header.by_id
    for name in in_order({check.condition for check in results.checks}):
        alike: dict[Any, list[CheckResult]] = {}
        asked: dict[str, int] = {}
        for check in results.checks:
            if check.condition != name:
                continue
            asked[check.scenario] = asked.get(check.scenario, 0) + 1
            if not check.fully_correct:
                alike.setdefault((check.scenario, _given(check)), []).append(check)
        found = [
            Failure(by_id[same[0].scenario], same[0], len(same), asked[same[0].scenario]) for same in alike.values()
        ]
        found.sort(key=lambda failure: (failure.first.outcome != "unsafe", -failure.count, failure.scenario.id))
        yield ConditionFailures(name, tuple(found[:MAX_FAILURES_A_CONDITION]), len(found[MAX_FAILURES_A_CONDITION:]))


def _given(check: CheckResult) -> tuple[Any, ...]:
    return check.action, check.reason_code, check.criteria_met, json.dumps(check.appointment), check.valid_json


def _percent(value: float) -> str:
    return f"{value:.1%}"


def _p(value: float) -> str:
    return f"{value:.3f}" if value >= 0.001 else f"{value:.0e}"


def _pretty(raw: str | None) -> str:
    """Indented if it is JSON, as it came otherwise."""
    if raw is None:
        return "not shown to this key"
    try:
        return json.dumps(json.loads(raw), indent=1, ensure_ascii=False)
    except ValueError:
        return raw
