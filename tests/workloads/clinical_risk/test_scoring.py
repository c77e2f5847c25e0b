import numpy as np
from scipy.special import expit

from wardround.workloads.clinical_risk.scoring import DETAIL_METRICS, VALIDATION_METRICS, ScoredRows, score_rows


def _rows(n=300, seed=0, **keywords):
    generator = np.random.default_rng(seed)
    x = generator.normal(-1, 1, n)
    labels = (generator.random(n) < expit(x)).astype(np.uint8)
    names = [f"p{i:04d}" for i in range(n)]
    return ScoredRows(expit(x).astype(np.float32), labels, names, [f"row-{name}" for name in names], **keywords)


def test_every_round_reports_the_quick_figures_alone():
    scores = score_rows(_rows(), split="validation", detail=False, minimum_cell=5)
    assert tuple(record.name for record in scores.records) == VALIDATION_METRICS
    assert all(record.interval is None for record in scores.records)
    assert not scores.tallies
    assert not scores.cohorts


def test_detail_adds_calibration_and_intervals():
    scores = score_rows(_rows(), split="test", detail=True, minimum_cell=5)
    assert tuple(record.name for record in scores.records) == VALIDATION_METRICS + DETAIL_METRICS
    assert all(record.interval is not None for record in scores.records)


def test_each_row_is_kept_for_the_sites_own_folder():
    rows = _rows(3)
    scores = score_rows(rows, split="test", detail=False, minimum_cell=5)
    assert [(case.case, case.patient) for case in scores.cases] == [(f"row-p{i:04d}", f"p{i:04d}") for i in range(3)]
    assert scores.cases[0].values == {"probability": float(rows.probabilities[0]), "label": float(rows.labels[0])}
