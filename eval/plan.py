"""Which check runs when: conditions in blocks, fair to both enforcements of a design."""

import hashlib
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from app.pipeline.design import DesignName, Enforcement
from eval.errors import EvalError
from eval.scenarios import Scenario

MAX_SEED = 2**31 - 1
SMOKE_CHECKS = 16


@dataclass(frozen=True, order=True)
class Condition:
    design: DesignName
    enforcement: Enforcement

    def __str__(self) -> str:
        return f"{self.design}/{self.enforcement}"


@dataclass(frozen=True)
class PlannedCheck:
    condition: Condition
    scenario: Scenario
    run_index: int

    @property
    def key(self) -> "CheckKey":
        return CheckKey(str(self.condition), self.scenario.id, self.run_index)

    @property
    def seed(self) -> int:
        """The same for every condition, so that both enforcements draw from the same pool."""
        digest = hashlib.sha256(f"{self.scenario.id}\n{self.run_index}".encode()).digest()
        return int.from_bytes(digest[:8], "big") % (MAX_SEED + 1)


@dataclass(frozen=True)
class CheckKey:
    condition: str
    scenario: str
    run_index: int


@dataclass(frozen=True)
class Block:
    """Checks of one condition that run together."""

    index: int
    condition: Condition
    checks: tuple[PlannedCheck, ...]


def conditions(designs: str, enforcement: Literal["both", "constrained", "unconstrained"]) -> tuple[Condition, ...]:
    """`designs` is comma separated. Raises EvalError for an unknown name."""
    names = [name.strip() for name in designs.split(",") if name.strip()]
    unknown = [name for name in names if name not in set(DesignName)]
    if unknown or not names:
        known = ", ".join(DesignName)
        raise EvalError(f"--conditions: {unknown[0] if unknown else ''!r} is not a design; choose from {known}")
    kinds = list(Enforcement) if enforcement == "both" else [Enforcement(enforcement)]
    return tuple(Condition(DesignName(name), kind) for name in dict.fromkeys(names) for kind in kinds)


def blocks(
    chosen: Sequence[Condition], scenarios: Sequence[Scenario], runs: int, runs_per_block: int
) -> Iterator[Block]:
    """Every scenario `runs` times under every condition; within a design the order of enforcements alternates."""
    ranges = [range(at, min(at + runs_per_block, runs)) for at in range(0, runs, runs_per_block)]
    for index, run_indexes in enumerate(ranges):
        for _, pair in itertools.groupby(chosen, key=lambda condition: condition.design):
            for condition in sorted(pair, reverse=index % 2 == 1):
                checks = [PlannedCheck(condition, scenario, run) for run in run_indexes for scenario in scenarios]
                yield Block(index, condition, tuple(checks))


def smoke_blocks(chosen: Sequence[Condition], scenarios: Sequence[Scenario]) -> Iterator[Block]:
    """Sixteen checks over all conditions and groups; both enforcements of a design see the same scenario."""
    pairs = [list(pair) for _, pair in itertools.groupby(chosen, key=lambda condition: condition.design)]
    pairs.sort(key=lambda pair: pair[0].design is not DesignName.PIPELINE)  # what customers get comes first, and twice
    by_group = _across_groups(scenarios)
    checks: dict[Condition, list[PlannedCheck]] = {}
    left = SMOKE_CHECKS
    for turn in itertools.count():
        for condition in pairs[turn % len(pairs)]:
            scenario = by_group[turn % len(by_group)]
            checks.setdefault(condition, []).append(PlannedCheck(condition, scenario, turn // len(by_group)))
            left -= 1
        if left <= 0:
            break
    for condition, planned in checks.items():
        yield Block(0, condition, tuple(planned))


def _across_groups(scenarios: Sequence[Scenario]) -> list[Scenario]:
    """One of every group, then the second of every group, and so on."""
    groups: dict[str, list[Scenario]] = {}
    for scenario in scenarios:
        groups.setdefault(scenario.group, []).append(scenario)
    rounds = itertools.zip_longest(*groups.values())
    return [scenario for around in rounds for scenario in around if scenario is not None]
