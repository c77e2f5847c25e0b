"""How far figures over rows moved between two models on the same rows."""

from collections.abc import Sequence

import numpy as np

from wardround.metrics.classification import MEANS, figure_values, resampled_figures
from wardround.metrics.paired_change import PairedChange
from wardround.metrics.support import FEWEST_OF_A_CLASS
from wardround.records.scores import CaseScore
from wardround.workloads.clinical_risk.scoring import labelled

RESAMPLES = 400
"""A standard error from so many resamples is itself known to 1 / sqrt(2 * 400) = 4 %."""


def row_changes(
    names: Sequence[str], now: Sequence[CaseScore], before: Sequence[CaseScore], *, seed: int
) -> list[PairedChange]:
    """Differences of figures, with standard errors from patients that are resampled for both models at once.

    A figure that ranks or calibrates is left out below 10 patients with the outcome or without it, a mean over rows
    below 10 patients.

    Args:
        names: of `wardround.metrics.classification.FIGURES`.
        now, before: of the same rows.
        seed: of the draws.
    """
    models = [labelled(now), labelled(before)]
    rows = models[0]
    fewest = min(rows.patients_with(0), rows.patients_with(1))
    behind = {name: rows.n_patients if name in MEANS else fewest for name in names}
    chosen = [name for name in names if behind[name] >= FEWEST_OF_A_CLASS]
    if not chosen:
        return []
    ours, theirs = (figure_values(model, chosen) for model in models)
    chunks = list(resampled_figures(models, chosen, seed=seed, resamples=RESAMPLES))
    found = []
    for name in chosen:
        moved = np.concatenate([pair[0][name] - pair[1][name] for pair in chunks])
        moved = moved[np.isfinite(moved)]
        if name in ours and name in theirs and moved.size > RESAMPLES // 2:
            found.append(PairedChange(name, ours[name] - theirs[name], float(moved.std(ddof=1)), behind[name]))
    return found
