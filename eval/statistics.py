"""The few statistics that are reported, each by its exact test where there is one."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import binomtest, fisher_exact, norm


@dataclass(frozen=True)
class Interval:
    """Fractions in [0, 1]."""

    low: float
    high: float


def wilson(passed: int, total: int, confidence: float = 0.95) -> Interval:
    """Interval for a pass rate. Raises ValueError if total is 0. Source: Wilson (1927), JASA 22."""
    if total == 0:
        raise ValueError("no interval without observations")
    interval = binomtest(passed, total).proportion_ci(confidence, method="wilson")
    return Interval(float(interval.low), float(interval.high))


def fisher(passed_a: int, total_a: int, passed_b: int, total_b: int) -> float:
    """Two-sided p that two groups of independent checks have the same pass rate; 1 if either is empty.

    Repeats of one scenario are not independent: where they agree with each other this p is too small.
    """
    if not total_a or not total_b:
        return 1.0
    table = [[passed_a, total_a - passed_a], [passed_b, total_b - passed_b]]
    return float(fisher_exact(table).pvalue)


@dataclass(frozen=True)
class Discordant:
    """Of checks that two conditions answered on the same scenario and run index."""

    only_first: int
    """Passed by the first condition alone."""
    only_second: int


def mcnemar_by_scenario(pairs: Mapping[str, Discordant]) -> float:
    """Two-sided exact p that neither condition is better, with the scenario as the unit.

    Under the null the two conditions' answers may be swapped, but for all repeats of a scenario together, since they
    hang together. The statistic is the difference in passes; its distribution over all 2^k swaps of the k scenarios
    is summed exactly. With one check a scenario this is McNemar's exact test. 1 if nothing is discordant.
    """
    differences = [abs(pair.only_first - pair.only_second) for pair in pairs.values()]
    observed = abs(sum(pair.only_first - pair.only_second for pair in pairs.values()))
    span = sum(differences)
    weight = np.zeros(2 * span + 1)
    weight[span] = 1.0
    """weight[span + s] is the probability of the sum s."""
    for difference in differences:
        if difference:
            weight = (np.roll(weight, difference) + np.roll(weight, -difference)) / 2
    sums = np.abs(np.arange(-span, span + 1))
    return min(1.0, float(weight[sums >= observed].sum()))


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted for testing all of them, in the order given. Source: Holm (1979), Scand. J. Statist. 6."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted, running = [0.0] * len(p_values), 0.0
    for rank, index in enumerate(order):
        running = max(running, min(1.0, p_values[index] * (len(p_values) - rank)))
        adjusted[index] = running
    return adjusted


def smallest_detectable_drop(rate: float, per_group: int, alpha: float = 0.05, power: float = 0.8) -> float:
    """How far a second group's rate must lie below `rate` to be told apart, two-sided, as a fraction.

    By Cohen's h (arcsine), for `per_group` independent checks in each group. Raises ValueError if that is 0.
    """
    if per_group == 0:
        raise ValueError("nothing is detectable without observations")
    h = (norm.ppf(1 - alpha / 2) + norm.ppf(power)) * math.sqrt(2 / per_group)
    angle = max(0.0, math.asin(math.sqrt(rate)) - h / 2)
    return float(rate - math.sin(angle) ** 2)


def percentile(values: Iterable[float], share: float) -> float:
    """Linear between the two nearest; `share` in [0, 1]."""
    return float(np.quantile(np.fromiter(values, float), share))
