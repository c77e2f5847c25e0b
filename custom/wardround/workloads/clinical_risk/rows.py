"""Rows in memory: one split's inputs and outcomes as tensors, and whose they are."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wardround.workloads.site_data import Batch


@dataclass(frozen=True)
class Rows:
    """Labelled rows.

    Args:
        inputs: float32 [rows, inputs], NaN where a number is missing.
        targets: float32 [rows, 1], 0 or 1.
        patients, cases: by row. They stay at the site.
        cohorts: cohort name to each row's part of it.
    """

    inputs: Tensor
    targets: Tensor
    patients: Sequence[str]
    cases: Sequence[str]
    cohorts: Mapping[str, Sequence[str | None]]

    def __len__(self) -> int:
        return len(self.targets)

    @property
    def positive(self) -> int:
        """Rows with the outcome."""
        return int(self.targets.sum())

    def patients_with(self, label: int) -> int:
        """Patients with at least one row of this outcome."""
        chosen = (self.targets[:, 0] == label).tolist()
        return len({patient for patient, has in zip(self.patients, chosen, strict=True) if has})

    def take(self, positions: NDArray[np.intp]) -> "Rows":
        """The rows at these positions."""
        chosen, places = torch.from_numpy(positions), positions.tolist()
        return Rows(
            self.inputs[chosen],
            self.targets[chosen],
            [self.patients[place] for place in places],
            [self.cases[place] for place in places],
            {name: [parts[place] for place in places] for name, parts in self.cohorts.items()},
        )


def training_batches(rows: Rows, batch_size: int, generator: torch.Generator, *, fewest: int = 1) -> Iterator[Batch]:
    """Endless batches that visit every row once an epoch, in an order drawn anew each time.

    Tensors are indexed directly, which costs microseconds where a DataLoader collates row by row. What is left of an
    epoch begins the next batch, so that every batch is full; a site with fewer rows than `batch_size` gets batches of
    all its rows.

    Args:
        rows: at least one.
        batch_size: rows of a batch.
        generator: draws the orders.
        fewest: 2 for a network with BatchNorm, which has no variance over one row: rows are repeated to reach it.
    """
    size = max(min(batch_size, len(rows)), fewest)
    inputs, targets = rows.inputs, rows.targets
    order = torch.randperm(len(rows), generator=generator)
    position = 0
    while True:
        while position + size > len(order):
            order = torch.cat((order[position:], torch.randperm(len(rows), generator=generator)))
            position = 0
        chosen = order[position : position + size]
        position += size
        yield inputs.index_select(0, chosen), targets.index_select(0, chosen)


def one_pass(inputs: Tensor, batch_size: int, generator: torch.Generator, *, fewest: int = 1) -> Iterator[Tensor]:
    """Every row once, in batches of nearly equal size: a last one of few rows would count as much as a full one."""
    order = torch.randperm(len(inputs), generator=generator)
    if len(order) < fewest:
        order = order.repeat(fewest)[:fewest]
    size = max(batch_size, fewest)
    for chosen in torch.tensor_split(order, -(-len(order) // size)):
        yield inputs.index_select(0, chosen)
