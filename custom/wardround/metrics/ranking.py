"""How well probabilities put patients with the outcome before those without: AUROC and average precision."""

import numpy as np
import numpy.typing as npt
from sklearn.metrics import average_precision_score, roc_auc_score

from wardround.metrics.labelled_rows import FloatArray, LabelledRows


def auroc(rows: LabelledRows) -> float:
    """Chance that a random positive row has a higher probability than a random negative one; ties count half.

    Both classes must be there.
    """
    return float(roc_auc_score(rows.labels, rows.probabilities))


def average_precision(rows: LabelledRows) -> float:
    """AUPRC as average precision: sum over thresholds of (recall gained) * (precision there), without interpolation.

    A model that knows nothing has the prevalence. Both classes must be there.
    """
    return float(average_precision_score(rows.labels, rows.probabilities))


class WeightedRanking:
    """AUROC and average precision of the same rows under many weightings, for resampling.

    Rows are sorted and ties found once; a weighting then costs one cumulative sum. Only thresholds at which a
    positive row stands matter for both figures, so the rest is worked out there alone.
    """

    def __init__(self, rows: LabelledRows) -> None:
        starts = np.flatnonzero(np.diff(rows.probabilities, prepend=-1.0))  # of each run of equal probabilities
        ends = np.append(starts[1:], rows.n)
        self._positives = np.flatnonzero(rows.labels)
        run = np.searchsorted(starts, self._positives, side="right") - 1
        runs, self._first = np.unique(run, return_index=True)  # runs with a positive row
        self._starts, self._ends = starts[runs], ends[runs]

    def figures(self, weights: npt.NDArray[np.int64]) -> tuple[FloatArray, FloatArray]:
        """AUROC and average precision, each [weightings]; NaN where a class has no weight.

        Args:
            weights: [weightings, rows], how often each row counts, in the rows' order.
        """
        before = np.zeros((len(weights), weights.shape[1] + 1), np.int64)
        np.cumsum(weights, axis=1, out=before[:, 1:])
        total = before[:, -1]
        positive = np.add.reduceat(weights[:, self._positives], self._first, axis=1)  # [weightings, runs]
        positive_up_to = np.cumsum(positive, axis=1)
        positives = positive_up_to[:, -1]
        negatives = total - positives
        positive_below = positive_up_to - positive
        negative_below = before[:, self._starts] - positive_below
        negative_up_to = before[:, self._ends] - positive_up_to
        with np.errstate(invalid="ignore", divide="ignore"):
            wins = (positive * (negative_below + negative_up_to)).sum(axis=1) / 2
            area = wins / (positives * negatives)
            found = positives[:, None] - positive_below  # positives at this threshold or above
            alerts = total[:, None] - before[:, self._starts]
            precision = np.where(alerts > 0, found / alerts, 0.0)
            average = (positive * precision).sum(axis=1) / positives
        average[negatives == 0] = np.nan
        return area, average
