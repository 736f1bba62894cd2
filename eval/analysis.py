"""From a results file to rates, intervals and tests. What is printed, drawn and gated is computed here."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from app.pipeline.design import DesignName, Enforcement
from eval.results import CheckResult, Results
from eval.scenarios import FACT_FIELDS
from eval.score import Outcome
from eval.statistics import Discordant, Interval, fisher, holm, mcnemar_by_scenario, percentile, wilson
from eval.statistics import smallest_detectable_drop as detectable

ALL = "all"

METRICS: dict[str, Callable[[CheckResult], bool]] = {
    "fully_correct": lambda check: check.fully_correct,
    "decision_correct": lambda check: check.decision_correct,
    "valid_json": lambda check: check.valid_json,
    "strict_json": lambda check: check.strict_json,
    "field_order_ok": lambda check: check.field_order_ok,
    "response_consistent": lambda check: check.response_consistent,
}


@dataclass(frozen=True)
class Rate:
    passed: int
    total: int

    @property
    def share(self) -> float:
        return self.passed / self.total if self.total else float("nan")

    @property
    def interval(self) -> Interval:
        return wilson(self.passed, self.total)


@dataclass(frozen=True)
class Cell:
    """One condition on one group, or on all of them."""

    condition: str
    group: str
    rates: dict[str, Rate]
    """By metric."""
    outcomes: dict[str, int]
    facts: dict[str, Rate]
    """By field; empty for designs that state no facts."""
    errors: int
    """Checks without an answer; in no rate."""
    latency_mean_ms: float
    latency_p50_ms: float
    latency_p95_ms: float
    prompt_tokens_mean: float
    completion_tokens_mean: float

    @property
    def checks(self) -> int:
        return self.rates["fully_correct"].total


@dataclass(frozen=True)
class Throughput:
    """Of one condition, over the time that its blocks took."""

    condition: str
    checks_per_minute: float
    completion_tokens_per_second: float


@dataclass(frozen=True)
class Comparison:
    """Two conditions on the same scenarios."""

    first: str
    second: str
    group: str
    metric: str
    first_rate: Rate
    second_rate: Rate
    discordant: Discordant
    fisher_p: float
    fisher_holm: float
    mcnemar_p: float
    """Clustered by scenario."""
    mcnemar_holm: float


@dataclass(frozen=True)
class Detectable:
    """The smallest drop in full correctness that this n tells from the condition's own rate, power 80 %."""

    condition: str
    if_independent: float
    """If every check were evidence of its own."""
    if_clustered: float
    """If the repeats of a scenario say nothing new. The truth lies between."""


@dataclass(frozen=True)
class Analysis:
    cells: tuple[Cell, ...]
    """Per condition: all groups together, then each."""
    throughput: tuple[Throughput, ...]
    enforcement: tuple[Comparison, ...]
    """Constrained against unconstrained, per design, group and metric; Holm over each metric."""
    designs: tuple[Comparison, ...]
    """Every pair of designs under the same enforcement; Holm over each enforcement."""
    detectable: tuple[Detectable, ...]

    def cell(self, condition: str, group: str = ALL) -> Cell:
        return next(cell for cell in self.cells if (cell.condition, cell.group) == (condition, group))


def analyze(results: Results) -> Analysis:
    conditions = in_order({check.condition for check in results.checks})
    groups = list(dict.fromkeys(scenario.group for scenario in results.header.scenarios))
    by_condition = {name: [c for c in results.checks if c.condition == name] for name in conditions}
    errors = Counter((error.condition, error.group) for error in results.errors)
    return Analysis(
        cells=tuple(cell for name in conditions for cell in _cells(name, by_condition[name], groups, errors)),
        throughput=tuple(_throughput(name, by_condition[name]) for name in conditions),
        enforcement=tuple(_enforcement_comparisons(by_condition, groups)),
        designs=tuple(_design_comparisons(by_condition)),
        detectable=tuple(_detectable(name, by_condition[name]) for name in conditions),
    )


def in_order(conditions: Iterable[str]) -> list[str]:
    """As the study numbers the designs, constrained first."""
    known = [f"{design}/{enforcement}" for design in DesignName for enforcement in Enforcement]
    return sorted(conditions, key=known.index)


def rate(checks: Iterable[CheckResult], metric: str) -> Rate:
    passed = [METRICS[metric](check) for check in checks]
    return Rate(sum(passed), len(passed))


def compare_checks(
    first: tuple[str, Sequence[CheckResult]], second: tuple[str, Sequence[CheckResult]], group: str, metric: str
) -> Comparison:
    """Pairs are checks of the same scenario and run index. The Holm values are those of this test alone."""
    (first_name, first_checks), (second_name, second_checks) = (
        (name, [c for c in checks if group in (ALL, c.group)]) for name, checks in (first, second)
    )
    pairs = discordant_pairs(first_checks, second_checks, metric)
    first_rate, second_rate = rate(first_checks, metric), rate(second_checks, metric)
    fisher_p = fisher(first_rate.passed, first_rate.total, second_rate.passed, second_rate.total)
    mcnemar_p = mcnemar_by_scenario(pairs)
    total = Discordant(sum(p.only_first for p in pairs.values()), sum(p.only_second for p in pairs.values()))
    return Comparison(
        first_name, second_name, group, metric, first_rate, second_rate, total, fisher_p, fisher_p, mcnemar_p, mcnemar_p
    )


def discordant_pairs(first: Iterable[CheckResult], second: Iterable[CheckResult], metric: str) -> dict[str, Discordant]:
    """By scenario."""
    passed = METRICS[metric]
    other = {(check.scenario, check.run_index): passed(check) for check in second}
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for check in first:
        theirs = other.get((check.scenario, check.run_index))
        if theirs is not None and theirs != passed(check):
            counts[check.scenario][theirs] += 1
    return {scenario: Discordant(*count) for scenario, count in counts.items()}


def with_holm(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Adjusted within this family."""
    fishers = holm([comparison.fisher_p for comparison in comparisons])
    mcnemars = holm([comparison.mcnemar_p for comparison in comparisons])
    return [
        Comparison(**vars(comparison) | {"fisher_holm": by_fisher, "mcnemar_holm": by_mcnemar})
        for comparison, by_fisher, by_mcnemar in zip(comparisons, fishers, mcnemars, strict=True)
    ]


def _cells(
    name: str, checks: Sequence[CheckResult], groups: Sequence[str], errors: Counter[tuple[str, str]]
) -> Iterable[Cell]:
    for group in (ALL, *groups):
        chosen = [check for check in checks if group in (ALL, check.group)]
        failed = sum(count for (condition, g), count in errors.items() if condition == name and group in (ALL, g))
        if chosen:
            yield _cell(name, group, chosen, failed)


def _cell(name: str, group: str, checks: Sequence[CheckResult], errors: int) -> Cell:
    latencies = [check.latency_ms for check in checks]
    outcomes = Counter(check.outcome for check in checks)
    with_facts = [check.facts_right for check in checks if check.facts_right is not None]
    return Cell(
        condition=name,
        group=group,
        rates={metric: rate(checks, metric) for metric in METRICS},
        outcomes={outcome.value: outcomes[outcome] for outcome in Outcome},
        facts={field: Rate(sum(f[field] for f in with_facts), len(with_facts)) for field in FACT_FIELDS if with_facts},
        errors=errors,
        latency_mean_ms=sum(latencies) / len(latencies),
        latency_p50_ms=percentile(latencies, 0.5),
        latency_p95_ms=percentile(latencies, 0.95),
        prompt_tokens_mean=sum(check.prompt_tokens for check in checks) / len(checks),
        completion_tokens_mean=sum(check.completion_tokens for check in checks) / len(checks),
    )


def _throughput(name: str, checks: Sequence[CheckResult]) -> Throughput:
    """A block's time is from its first check's start to its last one's end; pauses between sittings do not count."""
    spans: dict[tuple[str, int], tuple[float, float]] = {}
    for check in checks:
        begin, end = check.started_seconds, check.started_seconds + check.latency_ms / 1000
        low, high = spans.get((check.session, check.block), (begin, end))
        spans[check.session, check.block] = (min(low, begin), max(high, end))
    seconds = sum(high - low for low, high in spans.values())
    tokens = sum(check.completion_tokens for check in checks)
    return Throughput(name, len(checks) * 60 / seconds, tokens / seconds)


def _enforcement_comparisons(by_condition: dict[str, list[CheckResult]], groups: Sequence[str]) -> Iterable[Comparison]:
    for metric in ("fully_correct", "valid_json"):
        family = []
        for design in DesignName:
            names = [f"{design}/{enforcement}" for enforcement in Enforcement]
            if all(name in by_condition for name in names):
                first, second = ((name, by_condition[name]) for name in names)
                compared = [compare_checks(first, second, group, metric) for group in (ALL, *groups)]
                family += [c for c in compared if c.first_rate.total and c.second_rate.total]
        yield from with_holm(family)


def _design_comparisons(by_condition: dict[str, list[CheckResult]]) -> Iterable[Comparison]:
    for enforcement in Enforcement:
        names = [name for name in by_condition if name.endswith(f"/{enforcement}")]
        family = [
            compare_checks((first, by_condition[first]), (second, by_condition[second]), ALL, "fully_correct")
            for first, second in combinations(names, 2)
        ]
        yield from with_holm(family)


def _detectable(name: str, checks: Sequence[CheckResult]) -> Detectable:
    share = rate(checks, "fully_correct").share
    scenarios = len({check.scenario for check in checks})
    return Detectable(name, detectable(share, len(checks)), detectable(share, scenarios))
