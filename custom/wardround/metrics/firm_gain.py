"""Whether a step on held-out rows helped by more than chance makes of it."""

import numpy as np
import numpy.typing as npt


def firm_gain(
    before: npt.NDArray[np.float64], after: npt.NDArray[np.float64], patients: npt.NDArray[np.str_]
) -> float | None:
    """Mean over patients of how much lower their mean loss is after the step, or None where that is not firm.

    It is firm where the mean exceeds its standard error, deviation / sqrt(patients). On a few dozen rows a correction
    that does nothing looks better as often as worse, and one that is kept for looking better does harm.

    Args:
        before, after: losses of the same rows, [rows]. Those after must not stem from a fit to the rows themselves.
        patients: by row.
    """
    whose = np.unique(patients, return_inverse=True)[1]
    gains = np.bincount(whose, before - after) / np.bincount(whose)
    if gains.size < 2:
        return None
    mean, error = float(gains.mean()), float(gains.std(ddof=1) / np.sqrt(gains.size))
    return mean if mean > error else None
