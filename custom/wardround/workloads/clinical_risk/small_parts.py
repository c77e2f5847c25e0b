"""Which parts of the patients tell too much: small ones, and what would give a small one away."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from wardround.records.metric_record import BELOW_MINIMUM_CELL

COMPLEMENTARY = "complementary"
_Rows = npt.NDArray[np.bool_]
_SLACK = 1e-9
_Part = tuple[str, str]  # the division's name and the part's


def held_back(
    parts: npt.NDArray[np.str_], labels: npt.NDArray[Any], patients: npt.NDArray[np.str_], *, minimum_cell: int
) -> dict[str, str]:
    """Parts of one division whose figures may not leave, to the reason.

    A part is small where it holds fewer patients than the minimum, or 1 to fewer than the minimum with the outcome, or
    without it: its figures would rank single patients. Figures over all patients are told too, so what is hidden of a
    division is their difference to what is told; as long as all that is hidden together is small, the smallest part
    that is told is hidden with it. Patients without a part are hidden from the start.

    Args:
        parts: of each row, empty where it has none.
        labels: 0 or 1 by row.
        patients: by row.
        minimum_cell: the site's rule.
    """
    values = sorted(set(parts.tolist()) - {""})
    held = {value: BELOW_MINIMUM_CELL for value in values if _small(parts == value, labels, patients, minimum_cell)}
    told = sorted((value for value in values if value not in held), key=lambda value: (parts == value).sum())
    hidden = np.isin(parts, ["", *held])
    while told and hidden.any() and _small(hidden, labels, patients, minimum_cell):
        held[told[0]] = COMPLEMENTARY
        hidden |= parts == told.pop(0)
    return held


def held_back_between(
    told: Mapping[_Part, _Rows], labels: npt.NDArray[Any], patients: npt.NDArray[np.str_], *, minimum_cell: int
) -> list[_Part]:
    """Parts that have to be hidden since the figures of several divisions together give a small group away.

    Figures that are sums over rows can be added and subtracted at will: two divisions by age with edges at 65 and at 66
    give the patients of 65. Rows that every told part treats alike are one atom; a group is given away where its
    indicator over the atoms is a linear combination of those of the told parts and of all rows. Looked for are the
    small atoms, and the differences of parts that lie within each other. Of what gives one away, the smallest part is
    hidden, until nothing does.

    Args:
        told: division and part to its rows.
        labels: 0 or 1 by row.
        patients: by row.
        minimum_cell: the site's rule.
    """
    left, hidden = dict(told), []
    while left:
        involved = _giving_away(left, labels, patients, minimum_cell)
        if not involved:
            break
        hidden.append(min(involved, key=lambda part: int(left[part].sum())))
        del left[hidden[-1]]
    return hidden


def _giving_away(
    told: Mapping[_Part, _Rows], labels: npt.NDArray[Any], patients: npt.NDArray[np.str_], minimum: int
) -> list[_Part]:
    """The parts that together give the first small group away; empty where none is."""
    rows = np.vstack([np.ones(labels.size, dtype=bool), *told.values()])
    atoms, atom = np.unique(rows, axis=1, return_inverse=True)  # [told + 1, atoms], [rows]
    atom = atom.reshape(-1)
    targets = list(np.eye(atoms.shape[1], dtype=bool))
    for one in atoms:
        targets += [one & ~other for other in atoms if (one & ~other).any() and not (other & ~one).any()]
    for target in targets:
        if not _small(target[atom], labels, patients, minimum):
            continue
        wanted = target.astype(np.float64)
        shares, *_ = np.linalg.lstsq(atoms.T.astype(np.float64), wanted, rcond=None)
        if np.abs(atoms.T @ shares - wanted).max() < _SLACK:
            involved = [part for part, share in zip(told, shares[1:], strict=True) if abs(share) > _SLACK]
            if involved:
                return involved
    return []


def _small(rows: _Rows, labels: npt.NDArray[Any], patients: npt.NDArray[np.str_], minimum: int) -> bool:
    classes = [len(np.unique(patients[rows & (labels == label)])) for label in (0, 1)]
    few = len(np.unique(patients[rows])) < minimum
    return few or any(0 < count < minimum for count in classes)
