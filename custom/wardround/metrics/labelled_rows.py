"""Predicted probabilities with what came true: the input of every figure about a classifier, checked once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from wardround.records.reasons import Reason, WardroundError

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class LabelledRows:
    """Rows in ascending order of probability, so that no figure depends on the order in which they came.

    Args:
        probabilities: [rows], within 0 to 1.
        labels: [rows], 0 or 1.
        patients: [rows], a number for each patient, from 0 in the order of their identifiers.
    """

    probabilities: FloatArray
    labels: IntArray
    patients: IntArray

    @property
    def n(self) -> int:
        """Rows."""
        return int(self.labels.size)

    @property
    def n_positive(self) -> int:
        """Rows with label 1."""
        return int(self.labels.sum())

    @property
    def n_patients(self) -> int:
        """Patients with a row."""
        return int(np.unique(self.patients).size)

    def patients_with(self, label: int) -> int:
        """Patients with at least one row of this label: what a class rests on, since a patient's rows are alike."""
        return int(np.unique(self.patients[self.labels == label]).size)


def labelled_rows(
    probabilities: Sequence[float] | npt.NDArray[Any],
    labels: Sequence[int] | npt.NDArray[Any],
    patients: Sequence[str] | npt.NDArray[Any] | None = None,
) -> LabelledRows:
    """Checks rows and brings them into order.

    Args:
        probabilities: of the outcome, one a row.
        labels: 0 or 1, as whole numbers or booleans.
        patients: identifier by row; None where each row is another patient.

    Raises:
        WardroundError: lengths differ, a label is no 0 or 1, or a probability is not finite or not within 0 to 1.
    """
    chances, outcomes = _probabilities(probabilities), _labels(labels)
    lengths = {"probabilities": chances.size, "labels": outcomes.size}
    if patients is not None:
        lengths["patients"] = len(patients)
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{length} {name}" for name, length in lengths.items())
        raise WardroundError(Reason.METRICS_MISSING, f"one of each a row was expected, found {found}; score all rows")
    numbers = np.arange(chances.size) if patients is None else _numbered(patients)
    order = np.lexsort((numbers, outcomes, chances))
    return LabelledRows(chances[order], outcomes[order], numbers[order].astype(np.int64))


def _numbered(patients: Sequence[str] | npt.NDArray[Any]) -> IntArray:
    return np.unique(np.asarray(patients, dtype=str), return_inverse=True)[1].astype(np.int64)


def _probabilities(values: Sequence[float] | npt.NDArray[Any]) -> FloatArray:
    array = np.asarray(values)
    if array.size == 0:
        return np.zeros(0)
    if array.ndim != 1 or array.dtype.kind not in "fiu":
        raise WardroundError(
            Reason.VALUE_INVALID,
            f"probabilities: expected one number a row, found {array.dtype} of shape {list(array.shape)}",
        )
    array = array.astype(np.float64)
    finite = np.isfinite(array)
    if not finite.all():
        raise WardroundError(
            Reason.NOT_FINITE,
            f"probabilities: {int((~finite).sum())} of {array.size} are not finite, the first in row "
            f"{int(np.argmin(finite)) + 1}; the network diverged, so lower the learning rate or look at its inputs",
        )
    outside = (array < 0) | (array > 1)
    if outside.any():
        row = int(np.argmax(outside))
        raise WardroundError(
            Reason.VALUE_INVALID,
            f"probabilities: expected 0 to 1, found {array[row]:g} in row {row + 1}; give probabilities, not logits",
        )
    return array


def _labels(values: Sequence[int] | npt.NDArray[Any]) -> IntArray:
    array = np.asarray(values)
    if array.size == 0:
        return np.zeros(0, np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iub":
        raise WardroundError(
            Reason.VALUE_INVALID,
            f"labels: expected 0 or 1 a row as whole numbers, found {array.dtype} of shape {list(array.shape)}; "
            "map the source's codes in site.yaml",
        )
    wrong = (array != 0) & (array != 1)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise WardroundError(Reason.VALUE_INVALID, f"labels: expected 0 or 1, found {array[row]} in row {row + 1}")
    return array.astype(np.int64)
