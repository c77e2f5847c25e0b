"""Positions of a table's inputs, by which their distribution is counted."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from wardround.workloads.clinical_risk.contract import OTHER, CategoryColumn, Contract
from wardround.workloads.clinical_risk.encode import number_columns
from wardround.workloads.clinical_risk.rows import Rows
from wardround.workloads.input_cells import InputColumn

STEPS = 128
"""Of a number's plausible range, which is agreed in the contract; the pool merges them into tenths of its rows."""

MISSING = "missing"


def input_columns(contract: Contract) -> list[InputColumn]:
    """Each column of the contract; the last position is a missing value's."""
    columns = []
    for name, column in contract.columns.items():
        if isinstance(column, CategoryColumn):
            values = (*column.values, OTHER) if column.other else column.values
            columns.append(InputColumn(name, (*values, MISSING)))
        else:
            edges = tuple(np.linspace(*column.range, STEPS + 1).tolist())
            columns.append(InputColumn(name, (*[""] * STEPS, MISSING), edges, column.unit))
    return columns


def counts_by_patient(rows: Sequence[Rows], contract: Contract) -> Iterator[tuple[InputColumn, NDArray[np.float64]]]:
    """Rows by patient and position, [patients, positions], column by column.

    Args:
        rows: encoded and not standardised.
        contract: names the columns.
    """
    inputs = np.concatenate([part.inputs.numpy() for part in rows])
    patients = np.unique([patient for part in rows for patient in part.patients], return_inverse=True)[1]
    numbers = list(number_columns(contract))
    first = len(numbers) + len(contract.columns)
    for column in input_columns(contract):
        last = len(column.labels) - 1
        if column.edges is not None:
            values = inputs[:, numbers.index(column.name)]
            missing = np.isnan(values)
            places = np.clip(np.floor(np.where(missing, 0, values) * STEPS), 0, STEPS - 1).astype(np.intp)
        else:
            one_hot = inputs[:, first : first + last]
            missing, places = ~one_hot.any(axis=1), one_hot.argmax(axis=1)
            first += last
        counts = np.zeros((int(patients.max(initial=-1)) + 1, last + 1))
        np.add.at(counts, (patients, np.where(missing, last, places)), 1)
        yield column, counts
