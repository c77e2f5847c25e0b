import numpy as np
import pytest
from scipy.special import expit
from sklearn.metrics import log_loss

from wardround.metrics.classification import FIGURES, MEANS, figure_records
from wardround.metrics.labelled_rows import labelled_rows
from wardround.records.metric_record import Status


def _sample(n=300, seed=0, offset=-1.0):
    generator = np.random.default_rng(seed)
    x = generator.normal(offset, 1, n)
    return expit(x), (generator.random(n) < expit(x)).astype(int), [f"p{i:05d}" for i in range(n)]


def _by_name(rows, **keywords):
    return {record.name: record for record in figure_records(rows, FIGURES, **{"intervals": True, **keywords})}


@pytest.mark.parametrize("labels", [[0] * 12, [1] * 12])
def test_one_class_has_no_ranking_but_a_brier_score(labels):
    records = _by_name(labelled_rows(np.linspace(0.1, 0.9, 12), labels))
    for name in ("auroc", "auprc", "calibration_slope", "calibration_intercept", "brier_skill"):
        assert (records[name].value, records[name].status, records[name].reason) == (
            None,
            Status.UNDEFINED,
            "one_class",
        )
    for name in ("brier", "log_loss", "accuracy"):
        assert records[name].value is not None
        assert records[name].status is Status.OK


def test_a_single_row_is_scored_without_ranking_it():
    records = _by_name(labelled_rows([0.3], [1]))
    assert records["auroc"].reason == "one_class"
    assert records["brier"].value == pytest.approx(0.49)
    assert (records["brier"].status, records["brier"].reason) == (Status.LOW_SUPPORT, "fewer_than_10_patients")


def test_no_row_has_no_figure():
    assert {record.reason for record in _by_name(labelled_rows([], [])).values()} == {"no_cases"}


def test_two_positives_among_forty_are_shown_and_not_ranked_by():
    generator = np.random.default_rng(0)
    records = _by_name(labelled_rows(generator.random(42), [1] * 2 + [0] * 40))
    assert (records["auprc"].n, records["auprc"].n_positive) == (42, 2)
    assert (records["auprc"].status, records["auprc"].reason) == (Status.LOW_SUPPORT, "fewer_than_10_positives")
    assert records["auprc"].value is not None
    assert all(record.interval is None for record in records.values())
    assert records["brier"].status is Status.OK


def test_few_negatives_are_low_support_too():
    records = _by_name(labelled_rows(np.linspace(0.1, 0.9, 30), [0, 1, 0] + [1] * 27))
    assert records["auroc"].reason == "fewer_than_10_negatives"


def test_one_patient_with_many_rows_is_one_patient():
    probabilities, labels, _ = _sample(60)
    records = _by_name(labelled_rows(probabilities, labels, ["a"] * 30 + ["b"] * 30))
    assert records["brier"].reason == "fewer_than_10_patients"
    assert records["auroc"].reason == "fewer_than_10_positives"


def test_the_same_seed_gives_the_same_intervals_in_any_order():
    probabilities, labels, patients = _sample(80)
    patients = [patient[:-1] for patient in patients]  # ten rows a patient
    order = np.random.default_rng(3).permutation(80)
    shuffled = labelled_rows(probabilities[order], labels[order], [patients[i] for i in order])
    assert _by_name(labelled_rows(probabilities, labels, patients), seed=5) == _by_name(shuffled, seed=5)


def test_rows_of_one_patient_are_resampled_together():
    """Each row ten times over tells nothing new: as rows of one patient the interval stays, as new ones it shrinks."""
    probabilities, labels, patients = _sample(100)
    repeated = np.repeat(probabilities, 10), np.repeat(labels, 10)
    once = _by_name(labelled_rows(probabilities, labels, patients))
    together = _by_name(labelled_rows(*repeated, np.repeat(patients, 10)))
    apart = _by_name(labelled_rows(*repeated))
    for name in ("auroc", "brier"):
        width = {key: np.ptp(rows[name].interval) for key, rows in {"1": once, "10": together, "new": apart}.items()}
        assert width["10"] == pytest.approx(width["1"], rel=0.01)
        assert width["new"] < 0.5 * width["1"]


def test_intervals_cover_the_truth_about_as_often_as_they_say():
    truth = 0.2  # prevalence, whatever the sample
    covered = 0
    for trial in range(100):
        labels = (np.random.default_rng(trial).random(200) < truth).astype(int)
        [record] = figure_records(
            labelled_rows(np.full(200, 0.2), labels), ["prevalence"], intervals=True, seed=trial, resamples=400
        )
        assert record.interval is not None
        covered += record.interval[0] <= truth <= record.interval[1]
    assert 86 <= covered <= 100


def test_the_log_loss_is_that_of_scikit_learn_also_at_0_and_1():
    probabilities, labels = np.array([0.0, 1.0, 0.3, 0.6]), [0, 0, 1, 1]
    record = _by_name(labelled_rows(probabilities, labels))["log_loss"]
    assert record.value == pytest.approx(log_loss(labels, probabilities))


def test_values_lie_within_their_intervals_and_means_need_no_negatives():
    records = _by_name(labelled_rows(*_sample(400)))
    for name in ("auroc", "auprc", *MEANS, "calibration_slope", "calibration_intercept"):
        low, high = records[name].interval
        assert low < records[name].value < high
