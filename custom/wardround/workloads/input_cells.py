"""Counts of inputs by cell: what a site may tell of its inputs' distribution, and what sites' counts add up to.

Every site counts by the same positions, such as 128 steps of a column's plausible range, and is told in cells of one
or more. Edges are tried in an agreed order, the one before missing values first and then halves, quarters and so on,
and one is set where each side, up to the next edge, holds patients enough. So no edge lies where it does because of a
patient, as one behind the fifth youngest would. Sites of different size and range set others, and the pool has an edge
where each of them has one: its counts are exact, and no site's cell is divided.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from wardround.records.input_statistics import InputCell, InputShares
from wardround.records.reasons import Reason, WardroundError
from wardround.records.scores import Tally

PREFIX = "inputs_"
CELL = r"cell_\d{1,4}_\d{1,4}"
MOST_CELLS = 10
"""Of a pooled column's values: tenths of its rows, as is usual for a stability index."""

_RARE = 0.01  # share of the rows below which a category, or missing values, are no cell of their own
_COARSE = 3  # times that a range is halved with an empty half: finer ones would close in on its lowest patient

_KEY = re.compile(r"^cell_(\d{1,4})_(\d{1,4})$")
_ROUNDING = 1e-6

_Cell = tuple[int, int, float]  # first and last position, count


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
    """Counts by cell, each of nobody or of `minimum_cell` patients at least; without a count where there are not so
    many in all.

    That a cell is empty is told of categories, of missing values and, of a range, of its eighths: nothing finer, or
    empty cells would close in on its lowest and highest patient.

    Args:
        column: what is counted.
        by_patient: [patients, positions]: rows, or shares of a case's voxels.
        minimum_cell: the site's rule.
    """
    name, rows = tally_name(column.name), round(float(by_patient.sum()))
    present = by_patient > 0

    def patients(low: int, high: int) -> int:
        return int(present[:, low:high].any(axis=1).sum())

    edges = [0, by_patient.shape[1]]
    if patients(*edges) < minimum_cell:
        return Tally(name=name, counts={}, n=rows, support=0)
    for edge, empty_is_told in _agreed_edges(column):
        place = bisect_left(edges, edge)
        sides = patients(edges[place - 1], edge), patients(edge, edges[place])
        if all(side >= minimum_cell or (side == 0 and empty_is_told) for side in sides):
            edges.insert(place, edge)
    cells = list(pairwise(edges))
    counts = {f"cell_{low}_{high - 1}": float(by_patient[:, low:high].sum()) for low, high in cells}
    support = min(found for low, high in cells if (found := patients(low, high)))
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
    """Shares over all sites by column; columns that no site tells are left out.

    Of measured values there are ten cells at most; categories, and missing values, stay apart from a hundredth of the
    rows on. Where sites have no edge in common there is one cell, with which nothing can be compared.

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
            cells = _coarser(_common(by_name[name]), column)
            total = sum(count for *_, count in cells)
            shares = [
                InputCell(first=low, last=high, label=column.label(low, high), share=round(count / total, 9))
                for low, high, count in cells
            ]
            found.append(InputShares(name=column.name, rows=rows[name], sites=len(by_name[name]), cells=shares))
    return found


def _common(sites: Sequence[Mapping[tuple[int, int], float]]) -> list[_Cell]:
    ends = sorted(set.intersection(*({high for _, high in cells} for cells in sites)))
    pooled, first = [], 0
    for end in ends:
        count = sum(count for cells in sites for (low, high), count in cells.items() if low >= first and high <= end)
        pooled.append((first, end, count))
        first = end + 1
    return pooled


def _agreed_edges(column: InputColumn) -> Iterator[tuple[int, bool]]:
    """Positions before which an edge may be, in the order of trying, and whether an empty side is told there."""
    ordered = column.edges is not None
    end = len(column.edges) - 1 if column.edges is not None else len(column.labels)
    if end < len(column.labels):
        yield end, True
    level, halved = [(0, end)], 0
    while level:
        halved += 1
        halves = []
        for low, high in level:
            if high - low > 1:
                middle = (low + high) // 2
                yield middle, not ordered or halved <= _COARSE
                halves += [(low, middle), (middle, high)]
        level = halves


def _coarser(cells: list[_Cell], column: InputColumn) -> list[_Cell]:
    rare = _RARE * sum(count for *_, count in cells)
    if column.edges is None:
        return _merged(cells, rare)
    values = [cell for cell in cells if cell[0] < len(column.edges) - 1]
    missing = cells[len(values) :]
    return _merged([*_merged(values, sum(count for *_, count in values) / MOST_CELLS), *missing], rare)


def _merged(cells: list[_Cell], least: float) -> list[_Cell]:
    """Merges neighbours until each cell but the last has that much, and a last one that is too small with its own."""
    merged: list[_Cell] = []
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
