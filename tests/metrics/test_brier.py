import numpy as np
import pytest
from sklearn.metrics import brier_score_loss

from wardround.metrics.brier import bin_sums, brier_parts, equal_mass_bins
from wardround.metrics.labelled_rows import labelled_rows


def _rows(n=500, decimals=8, seed=0):
    generator = np.random.default_rng(seed)
    probabilities = np.round(generator.beta(1, 4, n), decimals)
    return labelled_rows(probabilities, (generator.random(n) < probabilities**1.3).astype(int))


@pytest.mark.parametrize("decimals", [1, 8])
@pytest.mark.parametrize("n", [1, 7, 500])
def test_the_parts_add_up_to_the_score(n, decimals):
    rows = _rows(n, decimals)
    parts = brier_parts(bin_sums(rows, equal_mass_bins(rows)).sum(axis=0))
    assert parts.brier == pytest.approx(np.mean((rows.probabilities - rows.labels) ** 2), abs=1e-14)
    total = parts.reliability - parts.resolution + parts.within_bin + parts.uncertainty
    assert total == pytest.approx(float(parts.brier), abs=1e-12)


def test_the_score_is_that_of_scikit_learn_and_its_skill_is_against_the_prevalence():
    rows = _rows()
    parts = brier_parts(bin_sums(rows, equal_mass_bins(rows)).sum(axis=0))
    assert parts.brier == pytest.approx(brier_score_loss(rows.labels, rows.probabilities))
    share = rows.labels.mean()
    constant = labelled_rows(np.full(rows.n, share), rows.labels)
    assert brier_parts(bin_sums(constant, equal_mass_bins(constant)).sum(axis=0)).skill == pytest.approx(0, abs=1e-12)
    assert parts.skill == pytest.approx(1 - float(parts.brier) / (share * (1 - share)))


def test_bins_hold_a_tenth_each_and_never_part_equal_probabilities():
    bins = equal_mass_bins(_rows(500))
    assert np.bincount(bins).tolist() == [50] * 10
    tied = _rows(500, decimals=1)
    bins = equal_mass_bins(tied)
    for value in np.unique(tied.probabilities):
        assert np.unique(bins[tied.probabilities == value]).size == 1


def test_perfectly_calibrated_groups_have_no_calibration_error():
    rows = labelled_rows([0.25] * 4 + [0.75] * 4, [1, 0, 0, 0, 1, 1, 1, 0])
    parts = brier_parts(bin_sums(rows, equal_mass_bins(rows)).sum(axis=0))
    assert (parts.calibration_error, parts.reliability) == (0, 0)
    assert parts.resolution == pytest.approx(0.0625)
