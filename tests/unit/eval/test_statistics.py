"""Statistics against values worked out by hand and against scipy and statsmodels."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import NormalIndPower
from statsmodels.stats.proportion import proportion_confint, proportion_effectsize

from eval.statistics import Discordant, fisher, holm, mcnemar_by_scenario, percentile, smallest_detectable_drop, wilson


def test_wilson_of_eight_in_ten_by_hand() -> None:
    z, n, share = 1.959964, 10, 0.8
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))

    interval = wilson(8, 10)

    assert (interval.low, interval.high) == pytest.approx((middle - half, middle + half), abs=1e-6)
    assert (interval.low, interval.high) == pytest.approx((0.4902, 0.9433), abs=1e-4)


@pytest.mark.parametrize("passed", [0, 1, 57, 124, 125])
def test_wilson_agrees_with_statsmodels_also_where_all_or_none_pass(passed: int) -> None:
    interval = wilson(passed, 125)

    assert (interval.low, interval.high) == pytest.approx(proportion_confint(passed, 125, method="wilson"), abs=1e-9)


def test_wilson_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="without observations"):
        wilson(0, 0)


def test_fisher_of_the_lady_tasting_tea_by_hand() -> None:
    """Three of four cups right: p = 2 (C(4,3) C(4,1) + C(4,4) C(4,0)) / C(8,4) = 34/70."""
    assert fisher(3, 4, 1, 4) == pytest.approx(34 / 70)


@pytest.mark.parametrize(("a", "b", "p"), [(0, 0, 1.0), (25, 25, 1.0), (25, 0, 2 / math.comb(50, 25))])
def test_fisher_of_all_right_and_all_wrong_cells(a: int, b: int, p: float) -> None:
    assert fisher(a, 25, b, 25) == pytest.approx(p)


def test_fisher_with_an_empty_group_shows_nothing() -> None:
    assert fisher(0, 0, 5, 10) == 1.0


@pytest.mark.parametrize(("first", "second"), [(0, 0), (1, 0), (5, 0), (9, 2), (3, 3), (0, 25)])
def test_mcnemar_with_one_check_a_scenario_is_the_exact_test(first: int, second: int) -> None:
    pairs = {f"a{n}": Discordant(1, 0) for n in range(first)} | {f"b{n}": Discordant(0, 1) for n in range(second)}

    p = mcnemar_by_scenario(pairs)

    assert p == pytest.approx(mcnemar([[0, first], [second, 0]], exact=True).pvalue)
    if first + second:
        assert p == pytest.approx(binomtest(first, first + second).pvalue)


def test_repeats_of_one_scenario_are_one_observation() -> None:
    """Twenty checks of a single scenario, all for the first condition: the two ways to swap it are equally likely."""
    assert mcnemar_by_scenario({"only": Discordant(20, 0)}) == 1.0
    assert mcnemar_by_scenario({f"s{n}": Discordant(20, 0) for n in range(6)}) == pytest.approx(2 / 2**6)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=9))
def test_mcnemar_by_scenario_is_the_share_of_swaps_at_least_as_far_apart(counts: list[tuple[int, int]]) -> None:
    differences = [first - second for first, second in counts]
    swaps = [sum(s * d for s, d in zip(signs, differences, strict=True))
             for signs in itertools.product((1, -1), repeat=len(differences))]  # fmt: skip
    expected = sum(abs(swap) >= abs(sum(differences)) for swap in swaps) / len(swaps)

    assert mcnemar_by_scenario({str(n): Discordant(*c) for n, c in enumerate(counts)}) == pytest.approx(expected)


def test_holm_by_hand() -> None:
    """0.01 x 4, 0.02 x 3 = 0.06, 0.03 x 2 = 0.06, 0.04 x 1 raised to the one before."""
    assert holm([0.03, 0.01, 0.04, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([]) == []
    assert holm([0.7, 1.0]) == [1.0, 1.0]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_agrees_with_statsmodels(p_values: list[float]) -> None:
    assert holm(p_values) == pytest.approx(list(multipletests(p_values, method="holm")[1]))


@pytest.mark.parametrize("rate", [1.0, 0.9, 0.5])
def test_the_smallest_detectable_drop_has_the_power_it_claims(rate: float) -> None:
    drop = smallest_detectable_drop(rate, 125)

    effect = proportion_effectsize(rate, rate - drop)
    power = NormalIndPower().power(effect, nobs1=125, alpha=0.05)
    assert power == pytest.approx(0.8, abs=1e-3)


def test_nothing_lies_below_a_rate_of_zero() -> None:
    assert smallest_detectable_drop(0.0, 125) == 0.0
    with pytest.raises(ValueError, match="without observations"):
        smallest_detectable_drop(0.5, 0)


def test_a_percentile_lies_between_its_neighbours() -> None:
    assert percentile([4, 1, 3, 2], 0.5) == 2.5
    assert percentile(iter([7]), 0.95) == 7
