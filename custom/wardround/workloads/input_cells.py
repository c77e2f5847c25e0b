"""Counts of inputs by cell: what a site may tell of its inputs' distribution, and what sites' counts add up to.

Every site counts by the same positions, such as 128 steps of a column's plausible range. Before anything is told,
neighbouring positions are merged until each cell rests on enough patients. Sites merge differently, so the pool has an
edge only where each of them has one: its counts are exact, and no site's cell is divided.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wardround.records.input_statistics import InputCell, InputShares
from wardround.records.reasons import Reason, WardroundError
from wardround.records.scores import Tally

PREFIX = "inputs_"
CELL = r"cell_\d{1,4}_\d{1,4}"
MOST_CELLS = 10
"""Of a pooled column: tenths of its rows, as is usual for a stability index."""

_KEY = re.compile(r"^cell_(\d{1,4})_(\d{1,4})$")
_ROUNDING = 1e-6


@dataclass(frozen=True)
class InputColumn:
    """What positions of an input mean.

    Args:
        name: of the column or sequence.
        labels: by position; the last one may stand for a missing value.
        edges: of a measured value's positions, one more than these; None where positions are categories.
        unit: of the edges.
        sampled: whether values of rows are counted, one or a few a patient, and no shares of a patient's many voxels.
    """

    name: str
    labels: tuple[str, ...]
    edges: tuple[float, ...] | None = None
    unit: str = ""
    sampled: bool = True

    def label(self, first: int, last: int) -> str:
        """`40 to 55 years`; `a, b or missing`."""
        if self.edges is None:
            return _either([self.labels[place] for place in range(first, last + 1)])
        measured = len(self.edges) - 1
        parts = []
        if first < measured:
            high = self.edges[min(last, measured - 1) + 1]
            parts.append(f"{self.edges[first]:.4g} to {high:.4g} {self.unit}".strip())
        return _either([*parts, *self.labels[max(first, measured) : last + 1]])


def tally_name(name: str) -> str:
    """Of the counts of a column or sequence of that name, within what a tally may be called."""
    return PREFIX + re.sub(r"[^a-z0-9_]", "_", name.lower())[:50]


def input_tally(column: InputColumn, by_patient: NDArray[np.float64], *, minimum_cell: int) -> Tally:
    """Counts by cell, each of `minimum_cell` patients at least; without a count where there are not so many.

    Args:
        column: what is counted.
        by_patient: [patients, positions]: rows, or shares of a case's voxels.
        minimum_cell: the site's rule.
    """
    name, rows = tally_name(column.name), round(float(by_patient.sum()))
    cells: list[tuple[int, int]] = []
    first, inside = 0, np.zeros(len(by_patient), dtype=bool)
    present = by_patient > 0
    for place in range(by_patient.shape[1]):
        inside |= present[:, place]
        if inside.sum() >= minimum_cell:
            cells.append((first, place))
            first, inside = place + 1, np.zeros(len(by_patient), dtype=bool)
    if not cells:
        return Tally(name=name, counts={}, n=rows, support=0)
    cells[-1] = cells[-1][0], by_patient.shape[1] - 1
    counts = {f"cell_{low}_{high}": float(by_patient[:, low : high + 1].sum()) for low, high in cells}
    support = min(int(present[:, low : high + 1].any(axis=1).sum()) for low, high in cells)
    return Tally(name=name, counts=counts, n=rows, support=support)


def check_input_tallies(tallies: Sequence[Tally], counts: Mapping[str, int], columns: Sequence[InputColumn]) -> None:
    """Refuses what cannot be one site's counts: they come from another machine.

    Args:
        tallies: those that its disclosure rules let through.
        counts: the site's patients and cases by split.
        columns: the study's.

    Raises:
        WardroundError: one line that names the tally and the difference.
    """
    known = {tally_name(column.name): len(column.labels) for column in columns}
    cases = counts.get("train_cases", 0)
    seen: set[str] = set()
    for tally in tallies:
        if tally.name not in known or tally.name in seen:
            raise _refused(tally, "is no input of the study, or there twice")
        seen.add(tally.name)
        cells = _cells(tally)
        places = [place for low, high in cells for place in range(low, high + 1)]
        if places != list(range(known[tally.name])):
            raise _refused(tally, f"has cells that do not cover positions 0 to {known[tally.name] - 1} once each")
        if not 0 < tally.n <= cases:
            raise _refused(tally, f"is over {tally.n} rows, the site has {cases} to train on")
        if min(cells.values()) < 0 or abs(sum(cells.values()) - tally.n) > _ROUNDING * tally.n + 1e-3:
            raise _refused(tally, f"has counts that do not add up to its {tally.n} rows")


def pooled_shares(columns: Sequence[InputColumn], tallies: Iterable[Tally]) -> list[InputShares]:
    """Shares over all sites by column, in ten cells at most; columns that no site tells are left out.

    Args:
        columns: the study's.
        tallies: of all sites.
    """
    by_name: dict[str, list[dict[tuple[int, int], float]]] = {}
    rows: dict[str, int] = {}
    for tally in tallies:
        if tally.counts:
            by_name.setdefault(tally.name, []).append(_cells(tally))
            rows[tally.name] = rows.get(tally.name, 0) + tally.n
    found = []
    for column in columns:
        name = tally_name(column.name)
        if name in by_name:
            cells = _in_tenths(_common(by_name[name]))
            total = sum(count for *_, count in cells)
            shares = [
                InputCell(first=low, last=high, label=column.label(low, high), share=round(count / total, 9))
                for low, high, count in cells
            ]
            found.append(InputShares(name=column.name, rows=rows[name], sites=len(by_name[name]), cells=shares))
    return found


def _common(sites: Sequence[Mapping[tuple[int, int], float]]) -> list[tuple[int, int, float]]:
    ends = sorted(set.intersection(*({high for _, high in cells} for cells in sites)))
    pooled, first = [], 0
    for end in ends:
        count = sum(count for cells in sites for (low, high), count in cells.items() if low >= first and high <= end)
        pooled.append((first, end, count))
        first = end + 1
    return pooled


def _in_tenths(cells: list[tuple[int, int, float]]) -> list[tuple[int, int, float]]:
    """Merges neighbours until each cell but the last has a tenth, and a last one that is too small with its own."""
    least = sum(count for *_, count in cells) / MOST_CELLS
    merged: list[tuple[int, int, float]] = []
    for low, high, count in cells:
        if merged and merged[-1][2] < least:
            before = merged.pop()
            merged.append((before[0], high, before[2] + count))
        else:
            merged.append((low, high, count))
    if len(merged) > 1 and merged[-1][2] < least:
        last, before = merged.pop(), merged.pop()
        merged.append((before[0], last[1], before[2] + last[2]))
    return merged


def _cells(tally: Tally) -> dict[tuple[int, int], float]:
    found = {}
    for key, count in tally.counts.items():
        match = _KEY.match(key)
        if match is None:
            raise _refused(tally, f"holds {key}, which is no cell")
        found[int(match.group(1)), int(match.group(2))] = count
    if not found:
        raise _refused(tally, "holds no cell")
    return dict(sorted(found.items()))


def _either(names: Sequence[str]) -> str:
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _refused(tally: Tally, what: str) -> WardroundError:
    return WardroundError(Reason.COUNT_INVALID, f"inputs: {tally.name} {what}; the site's answer is amiss")
