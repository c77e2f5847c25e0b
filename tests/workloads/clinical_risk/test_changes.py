"""Changes of figures over rows: Brier against its closed form, AUPRC against what resampling must give."""

import numpy as np
import pytest
from numpy.typing import NDArray

from wardround.records.scores import CaseScore
from wardround.workloads.clinical_risk.changes import row_changes


def _cases(probabilities: NDArray[np.float64], labels: NDArray[np.int64]) -> list[CaseScore]:
    return [
        CaseScore(case=str(n), patient=str(n), values={"probability": float(p), "label": float(y)})
        for n, (p, y) in enumerate(zip(probabilities, labels, strict=True))
    ]


def _rows(count: int, positive: int, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    generator = np.random.default_rng(seed)
    labels = np.array([1] * positive + [0] * (count - positive))
    return np.clip(0.2 + 0.2 * labels + generator.normal(0, 0.1, count), 0.01, 0.99), labels


def test_the_brier_scores_change_and_error_are_those_of_a_mean_over_patients() -> None:
    now, labels = _rows(500, 100)
    before = np.clip(now + np.random.default_rng(1).normal(0, 0.05, 500), 0.01, 0.99)
    (change,) = row_changes(["brier"], _cases(now, labels), _cases(before, labels), seed=0)
    per_row = (now - labels) ** 2 - (before - labels) ** 2
    assert change.difference == pytest.approx(per_row.mean())
    assert change.standard_error == pytest.approx(per_row.std(ddof=1) / np.sqrt(500), rel=0.12)
    assert change.patients == 500


def test_ranking_rests_on_the_smaller_class() -> None:
    probabilities, labels = _rows(300, 12)
    change = {c.name: c for c in row_changes(["auprc", "brier"], *[_cases(probabilities, labels)] * 2, seed=0)}
    assert change["auprc"].patients == 12
    assert change["auprc"].difference == change["auprc"].standard_error == 0
    probabilities, labels = _rows(300, 9)
    assert [c.name for c in row_changes(["auprc", "brier"], *[_cases(probabilities, labels)] * 2, seed=0)] == ["brier"]
    assert row_changes(["auprc", "brier"], [], [], seed=0) == []
