"""How far a distribution moved: the population stability index (PSI)."""

from collections.abc import Sequence
from math import log

from scipy.stats import chi2

from wardround.records.monitoring import Shift

MODERATE, LARGE = 0.1, 0.25
"""The rule of thumb: below .1 stable, from .1 moderate, from .25 large (Siddiqi, Credit Risk Scorecards, 2006)."""

_LEVEL = 0.95


def stability_index(expected: Sequence[float], counts: Sequence[float]) -> float:
    """PSI = sum_b (a_b - e_b) ln(a_b / e_b), with a_b the shares of `counts`; 0 where all shares are equal.

    A cell that nobody is in counts as half a row, since the logarithm of 0 would hide every other cell.

    Args:
        expected: shares e_b by cell, each above 0.
        counts: by the same cells, not all 0.
    """
    total = sum(counts)
    shares = [max(count, 0.5) / total for count in counts]
    return sum((a - e) * log(a / e) for a, e in zip(shares, expected, strict=True))


def chance_index(cells: int, rows: int, expected_rows: int) -> float:
    """What the index stays below in 95 of 100 samples where nothing moved.

    PSI / (1 / n + 1 / m) is then about chi-squared with cells - 1 degrees of freedom, for n and m rows (Yurdakul and
    Naranjo, Journal of Risk Model Validation 14(4), 2020): over 50 rows in 10 cells, .34 is chance.
    """
    return float(chi2.ppf(_LEVEL, max(cells - 1, 1))) * (1 / rows + 1 / expected_rows)


def judged(index: float, chance: float) -> Shift:
    """By the rule of thumb, and stable where chance explains it."""
    if index < MODERATE or index <= chance:
        return "stable"
    return "large" if index >= LARGE else "moderate"
