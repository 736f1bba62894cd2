"""Two runs of the same scenarios: what another model, prompt or version changed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from eval.analysis import ALL, Comparison, compare_checks, in_order, rate, with_holm
from eval.errors import EvalError
from eval.results import CheckResult, Results


@dataclass(frozen=True)
class Change:
    """A scenario whose share of fully right answers is another."""

    condition: str
    scenario: str
    before: float
    after: float
    unsafe_before: int
    unsafe_after: int


@dataclass(frozen=True)
class RunComparison:
    comparisons: tuple[Comparison, ...]
    """Per condition that both hold, `first` the earlier run; Holm over all."""
    changes: tuple[Change, ...]

    @property
    def regressions(self) -> tuple[Change, ...]:
        return tuple(change for change in self.changes if change.after < change.before)


def compare_runs(before: Results, after: Results, conditions: Sequence[str] | None = None) -> RunComparison:
    """`conditions` limits it. Raises EvalError if the runs are not of the same scenarios or share no condition."""
    if before.header.scenario_hash != after.header.scenario_hash:
        raise EvalError(
            f"{before.path} and {after.path} hold different scenarios ({before.header.scenario_file}, "
            f"{before.header.scenario_hash[:12]} and {after.header.scenario_file}, {after.header.scenario_hash[:12]}); "
            "run both on the same file with the same --filter, --limit and --include-controls"
        )
    shared = {check.condition for check in before.checks} & {check.condition for check in after.checks}
    chosen = in_order(shared if conditions is None else shared & set(conditions))
    if not chosen:
        raise EvalError(f"{before.path} and {after.path} have no condition in common")
    comparisons, changes = [], []
    for name in chosen:
        old, new = ([c for c in results.checks if c.condition == name] for results in (before, after))
        compared = compare_checks((name, old), (name, new), ALL, "fully_correct")
        comparisons.append(replace(compared, first="before", second="after", group=name))
        changes += _changes(name, old, new)
    return RunComparison(tuple(with_holm(comparisons)), tuple(changes))


def _changes(condition: str, old: Sequence[CheckResult], new: Sequence[CheckResult]) -> list[Change]:
    changes = []
    for scenario in sorted({check.scenario for check in old} & {check.scenario for check in new}):
        earlier, later = ([c for c in checks if c.scenario == scenario] for checks in (old, new))
        shares = (rate(earlier, "fully_correct").share, rate(later, "fully_correct").share)
        unsafe = tuple(sum(c.outcome == "unsafe" for c in checks) for checks in (earlier, later))
        if shares[0] != shares[1] or unsafe[0] != unsafe[1]:
            changes.append(Change(condition, scenario, *shares, *unsafe))
    return changes
