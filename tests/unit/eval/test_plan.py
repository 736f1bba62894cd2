import pytest

from eval import scenarios
from eval.errors import EvalError
from eval.plan import SMOKE_CHECKS, Block, blocks, conditions, smoke_blocks
from eval.scenarios import OWN

SCENARIOS = scenarios.load(OWN).scenarios
ALL_DESIGNS = "base,reasoned,tiered,table,pipeline"
TEN = conditions(ALL_DESIGNS, "both")


def names(planned: list[Block]) -> list[str]:
    return [str(block.condition) for block in planned]


def test_both_enforcements_of_five_designs_are_ten_conditions() -> None:
    assert len(TEN) == 10
    assert [str(c) for c in conditions("table , base", "constrained")] == ["table/constrained", "base/constrained"]


@pytest.mark.parametrize("designs", ["pipelin", "", "base,,x"])
def test_an_unknown_design_is_named_with_the_known_ones(designs: str) -> None:
    with pytest.raises(EvalError, match="base, reasoned, tiered, table, pipeline"):
        conditions(designs, "both")


def test_every_scenario_runs_as_often_as_asked_under_every_condition() -> None:
    planned = [check.key for block in blocks(TEN, SCENARIOS, 7, 3) for check in block.checks]

    assert len(planned) == len(set(planned)) == 10 * 25 * 7


def test_the_order_of_enforcements_alternates_by_block() -> None:
    planned = names(list(blocks(conditions("base,table", "both"), SCENARIOS, 3, 1)))

    assert planned[:4] == ["base/constrained", "base/unconstrained", "table/constrained", "table/unconstrained"]
    assert planned[4:8] == ["base/unconstrained", "base/constrained", "table/unconstrained", "table/constrained"]
    assert planned[8:] == planned[:4]


def test_all_conditions_draw_from_the_same_seeds() -> None:
    seeds = {
        str(block.condition): [(check.scenario.id, check.run_index, check.seed) for check in block.checks]
        for block in blocks(TEN, SCENARIOS, 2, 2)
    }

    assert len({tuple(pool) for pool in seeds.values()}) == 1
    pool = [seed for _, _, seed in next(iter(seeds.values()))]
    assert len(set(pool)) == len(pool)
    assert all(0 <= seed < 2**31 for seed in pool)


@pytest.mark.parametrize("designs", [ALL_DESIGNS, "pipeline", "base,table"])
@pytest.mark.parametrize("enforcement", ["both", "constrained"])
def test_a_smoke_run_is_sixteen_checks_over_all_conditions(designs: str, enforcement: str) -> None:
    chosen = conditions(designs, enforcement)  # type: ignore[arg-type]

    planned = [check for block in smoke_blocks(chosen, SCENARIOS) for check in block.checks]

    assert len({check.key for check in planned}) == len(planned) == SMOKE_CHECKS
    assert {check.condition for check in planned} == set(chosen)
    assert len({check.scenario.group for check in planned}) == 5


def test_a_smoke_run_of_one_scenario_repeats_it() -> None:
    planned = [check.key for block in smoke_blocks(TEN, SCENARIOS[:1]) for check in block.checks]

    assert len(set(planned)) == SMOKE_CHECKS
