"""Which parts of a division of patients tell too much: small ones, and what would give a small one away."""

from typing import Any

import numpy as np
import numpy.typing as npt

from wardround.records.metric_record import BELOW_MINIMUM_CELL

COMPLEMENTARY = "complementary"


def held_back(
    parts: npt.NDArray[np.str_], labels: npt.NDArray[Any], patients: npt.NDArray[np.str_], *, minimum_cell: int
) -> dict[str, str]:
    """Parts whose figures may not leave, to the reason.

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

    def small(chosen: npt.NDArray[np.bool_]) -> bool:
        classes = [len(np.unique(patients[chosen & (labels == label)])) for label in (0, 1)]
        few = len(np.unique(patients[chosen])) < minimum_cell
        return few or any(0 < count < minimum_cell for count in classes)

    held = {value: BELOW_MINIMUM_CELL for value in values if small(parts == value)}
    told = sorted((value for value in values if value not in held), key=lambda value: (parts == value).sum())
    hidden = np.isin(parts, ["", *held])
    while told and hidden.any() and small(hidden):
        held[told[0]] = COMPLEMENTARY
        hidden |= parts == told.pop(0)
    return held
