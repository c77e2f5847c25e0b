import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from wardround.metrics.labelled_rows import LabelledRows, labelled_rows
from wardround.metrics.pooled_ranking import pooled_ranking, precision_recall_curve
from wardround.metrics.score_bins import score_bins
from wardround.records.scores import Tally

SITES = {"hospital-a": 0.0, "hospital-b": 0.8, "hospital-c": -0.6}


def _site(name: str, prevalence: float, size: int = 4000) -> LabelledRows:
    generator = np.random.default_rng(list(SITES).index(name))
    logits = generator.normal(np.log(prevalence / (1 - prevalence)) + SITES[name], 1.0, size)
    probabilities = 1 / (1 + np.exp(-logits))
    return labelled_rows(probabilities, (generator.random(size) < probabilities).astype(int))


def _tally(rows: LabelledRows, minimum: int) -> Tally:
    tally = score_bins(rows, minimum_cell=minimum)
    assert tally is not None
    return tally


@pytest.mark.parametrize("prevalence", [0.02, 0.1, 0.5])
def test_with_every_cell_told_it_is_what_the_pooled_rows_give(prevalence: float) -> None:
    sites = {name: _site(name, prevalence) for name in SITES}
    found = pooled_ranking({name: _tally(rows, 1) for name, rows in sites.items()})
    labels = np.concatenate([rows.labels for rows in sites.values()])
    scores = np.concatenate([rows.probabilities for rows in sites.values()])
    assert found.auroc is not None
    assert found.auprc is not None
    assert found.auroc.value == pytest.approx(roc_auc_score(labels, scores), abs=0.002)
    assert found.auprc.value == pytest.approx(average_precision_score(labels, scores), abs=0.002)
    assert (found.n, found.n_positive) == (labels.size, labels.sum())


@pytest.mark.parametrize("minimum", [5, 11, 40])
def test_the_bounds_hold_the_pooled_rows_own_figures(minimum: int) -> None:
    sites = {name: _site(name, 0.1, size) for name, size in zip(SITES, (300, 1500, 4000), strict=True)}
    found = pooled_ranking({name: _tally(rows, minimum) for name, rows in sites.items() if rows.n_positive >= minimum})
    labels = np.concatenate([rows.labels for rows in sites.values() if rows.n_positive >= minimum])
    scores = np.concatenate([rows.probabilities for rows in sites.values() if rows.n_positive >= minimum])
    for bounded, exact in ((found.auroc, roc_auc_score), (found.auprc, average_precision_score)):
        assert bounded is not None
        assert bounded.low <= exact(labels, scores) <= bounded.high
        assert bounded.low <= bounded.value <= bounded.high
        assert bounded.low < bounded.high


@pytest.mark.parametrize(
    ("sizes", "off"), [((150, 200, 300), (0.015, 0.02)), ((300, 1500, 4000), (0.001, 0.005))], ids=["small", "large"]
)
def test_the_estimate_is_near_although_a_tails_cell_is_wide(sizes: tuple[int], off: tuple[float, float]) -> None:
    sites = {name: _site(name, 0.2, size) for name, size in zip(SITES, sizes, strict=True)}
    found = pooled_ranking({name: _tally(rows, 5) for name, rows in sites.items()})
    labels = np.concatenate([rows.labels for rows in sites.values()])
    scores = np.concatenate([rows.probabilities for rows in sites.values()])
    for bounded, exact, most in zip(
        (found.auroc, found.auprc), (roc_auc_score, average_precision_score), off, strict=True
    ):
        assert bounded is not None
        assert bounded.value == pytest.approx(exact(labels, scores), abs=most)


def test_pairs_within_a_site_are_told_beside_those_across_sites() -> None:
    rows = {name: _site(name, 0.2) for name in SITES}
    found = pooled_ranking({name: _tally(each, 1) for name, each in rows.items()})
    own = [roc_auc_score(each.labels, each.probabilities) for each in rows.values()]
    pairs = [each.n_positive * (each.n - each.n_positive) for each in rows.values()]
    assert found.within_site_auroc is not None
    assert found.within_site_auroc.value == pytest.approx(np.average(own, weights=pairs), abs=0.002)
    assert found.auroc is not None
    assert found.auroc.value > found.within_site_auroc.value + 0.02  # the sites' prevalence adds to it


def test_rows_of_one_class_have_no_ranking() -> None:
    found = pooled_ranking({"hospital-a": _tally(labelled_rows([0.2, 0.6], [1, 1]), 1)})
    assert (found.auroc, found.auprc, found.within_site_auroc) == (None, None, None)
    assert (found.n, found.n_positive) == (2, 2)


def test_a_site_of_one_class_counts_in_pairs_with_others() -> None:
    sites = {"hospital-a": labelled_rows([0.9, 0.8], [1, 1]), "hospital-b": labelled_rows([0.1, 0.2, 0.95], [0, 0, 0])}
    found = pooled_ranking({name: _tally(rows, 1) for name, rows in sites.items()})
    assert found.auroc is not None
    assert found.auroc.value == pytest.approx(4 / 6)
    assert found.within_site_auroc is None


def test_the_curve_runs_from_no_recall_to_all_of_it() -> None:
    rows = _site("hospital-a", 0.2)
    curve = precision_recall_curve(_tally(rows, 5))
    assert curve[0][0] == 0
    assert curve[-1] == (1.0, pytest.approx(rows.n_positive / rows.n))
    assert len(curve) <= 100
    assert [recall for recall, _ in curve] == sorted(recall for recall, _ in curve)
    assert precision_recall_curve(_tally(labelled_rows([0.2, 0.3], [0, 0]), 1)) == []
