"""From a table's columns to the network's inputs: the same ones in the same order at every hospital."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from wardround.workloads.clinical_risk.contract import OTHER, CategoryColumn, Contract, NumberColumn


def encode(frame: pl.DataFrame, contract: Contract) -> NDArray[np.float32]:
    """The rows as [rows, inputs], in the order of `input_names`.

    A number is scaled linearly to [0, 1] over its plausible range, so that sums over it are well conditioned, and is
    NaN where it is missing: what stands in for it is the network's matter, which knows the mean. An indicator of each
    column is 1 where its value is missing. A category is one-hot, all 0 where it is missing.

    Args:
        frame: the contract's columns: numbers in the contract's unit, categories as a value of the vocabulary or
            `other`; null where missing.
        contract: what the columns mean.
    """
    numbers, names = number_columns(contract), list(contract.columns)
    encoded = np.zeros((frame.height, len(input_names(contract))), dtype=np.float32)
    for place, (name, number) in enumerate(numbers.items()):
        low, high = number.range
        encoded[:, place] = ((frame[name].cast(pl.Float64) - low) / (high - low)).fill_null(np.nan).to_numpy()
    for place, name in enumerate(names, start=len(numbers)):
        encoded[:, place] = frame[name].is_null().to_numpy()
    first = len(numbers) + len(names)
    for name, column in contract.columns.items():
        if isinstance(column, CategoryColumn):
            values = category_values(column)
            codes = frame[name].cast(pl.Enum(values)).to_physical()
            known = np.flatnonzero(codes.is_not_null().to_numpy())
            encoded[known, first + codes.drop_nulls().to_numpy().astype(np.intp)] = 1
            first += len(values)
    return encoded


def input_names(contract: Contract) -> list[str]:
    """What each input is: `age`, `age:missing`, `sex=female`; numbers first, then indicators, then categories."""
    categories = [
        f"{name}={value}"
        for name, column in contract.columns.items()
        if isinstance(column, CategoryColumn)
        for value in category_values(column)
    ]
    return [*number_columns(contract), *(f"{name}:missing" for name in contract.columns), *categories]


def number_columns(contract: Contract) -> dict[str, NumberColumn]:
    """The numbers among the contract's columns: the first inputs."""
    return {name: column for name, column in contract.columns.items() if isinstance(column, NumberColumn)}


def category_values(column: CategoryColumn) -> list[str]:
    """The values that have an input of their own, in its order."""
    return [*column.values, OTHER] if column.other else list(column.values)
