"""How a hospital's rows are distributed, column by column and split by split, for its own eyes."""

import math
from collections.abc import Mapping
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from wardround.records.illustrations import Distribution
from wardround.workloads.clinical_risk.contract import CategoryColumn, Contract
from wardround.workloads.clinical_risk.encode import category_values, number_columns
from wardround.workloads.clinical_risk.rows import Rows

_BINS = 8
_SIGNIFICANT = 6  # digits of a column's range: encoding a value in float32 and back moves it by less


def distributions(rows: Mapping[str, Rows], contract: Contract) -> tuple[Distribution, ...]:
    """The outcome and each input, read back from the encoded rows that training uses.

    Args:
        rows: by split, encoded and not standardised.
        contract: what the inputs are.
    """
    inputs = {split: part.inputs.numpy() for split, part in rows.items()}
    numbers, names = number_columns(contract), list(contract.columns)
    first = len(numbers) + len(names)
    drawn = [_outcome(rows, contract)]
    for place, (name, column) in enumerate(contract.columns.items()):
        missing = {split: int(part[:, len(numbers) + place].sum()) for split, part in inputs.items()}
        if isinstance(column, CategoryColumn):
            values = category_values(column)
            counts = {
                split: tuple(int(count) for count in part[:, first : first + len(values)].sum(0))
                for split, part in inputs.items()
            }
            first += len(values)
            drawn.append(Distribution(name, tuple(values), counts, missing))
        else:
            low, high = column.range
            at = list(numbers).index(name)
            digits = _SIGNIFICANT - math.ceil(math.log10(high - low))
            known = {
                split: (_present(part[:, at]) * (high - low) + low).round(digits) for split, part in inputs.items()
            }
            drawn.append(_binned(f"{name}, {column.unit}", known, missing))
    return tuple(drawn)


def _outcome(rows: Mapping[str, Rows], contract: Contract) -> Distribution:
    outcome = contract.outcome
    counts = {split: (part.positive, len(part) - part.positive) for split, part in rows.items()}
    return Distribution(outcome.name, (outcome.positive, outcome.negative), counts, dict.fromkeys(rows, 0))


def _present(values: NDArray[np.float32]) -> NDArray[np.float64]:
    return values[~np.isnan(values)].astype(np.float64)


def _binned(title: str, known: Mapping[str, NDArray[np.float64]], missing: Mapping[str, int]) -> Distribution:
    """Bins of one round width over all splits' values; one bar where they are one value."""
    every = np.concatenate(list(known.values()))
    if not len(every):
        return Distribution(title, (), dict.fromkeys(known, ()), missing)
    if every.min() == every.max():
        whole = {split: (len(values),) for split, values in known.items()}
        return Distribution(title, (f"{every[0]:g}",), whole, missing)
    step = _round_width(float(every.max() - every.min()) / _BINS)
    first = math.floor(every.min() / step)
    edges = np.arange(first, math.floor(every.max() / step) + 2) * step
    labels = tuple(f"{low:.6g} to {high:.6g}" for low, high in pairwise(edges))
    counts = {
        split: tuple(int(count) for count in np.histogram(values, bins=edges)[0]) for split, values in known.items()
    }
    return Distribution(title, labels, counts, missing)


def _round_width(least: float) -> float:
    """1, 2 or 5 times a power of ten, at least as wide."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least * (1 - 1e-9))
