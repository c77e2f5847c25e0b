import numpy as np
import pytest
from sklearn.metrics import brier_score_loss

from wardround.metrics.labelled_rows import LabelledRows, labelled_rows
from wardround.metrics.reliability import pooled_brier, reliability, squared_error
from wardround.metrics.score_bins import score_bins


def _rows(size: int, seed: int) -> LabelledRows:
    generator = np.random.default_rng(seed)
    probabilities = generator.beta(1.5, 4, size)
    return labelled_rows(probabilities, (generator.random(size) < probabilities**2).astype(int))


def test_the_pooled_brier_score_is_exact() -> None:
    sites = [_rows(100, 1), _rows(731, 2)]
    labels, probabilities = (
        np.concatenate([getattr(rows, name) for rows in sites]) for name in ("labels", "probabilities")
    )
    tallies = [squared_error(rows, minimum_cell=5) for rows in sites]
    assert pooled_brier([tally for tally in tallies if tally]) == pytest.approx(
        brier_score_loss(labels, probabilities), abs=1e-15
    )


def test_few_patients_send_no_sum_of_errors() -> None:
    assert squared_error(labelled_rows([0.1] * 9, [0] * 9, ["a", "b", "c"] * 3), minimum_cell=4) is None
    assert pooled_brier([]) is None


@pytest.mark.parametrize("minimum", [1, 5, 25])
def test_points_hold_all_rows_with_their_mean_probability_and_share(minimum: int) -> None:
    sites = [_rows(600, 1), _rows(2500, 2)]
    tallies = [score_bins(rows, minimum_cell=minimum) for rows in sites]
    points = reliability([tally for tally in tallies if tally])
    size = sum(rows.n for rows in sites)
    assert sum(point.n for point in points) == size
    assert sum(point.n * point.probability for point in points) == pytest.approx(
        sum(rows.probabilities.sum() for rows in sites)
    )
    assert sum(point.n * point.observed for point in points) == pytest.approx(sum(rows.n_positive for rows in sites))
    assert [point.probability for point in points] == sorted(point.probability for point in points)
    assert 2 <= len(points) <= 10
    assert all(point.observed < point.probability for point in points[1:])  # risks are overstated throughout


def test_with_fine_cells_a_point_is_the_rows_own_group() -> None:
    rows = _rows(2000, 3)
    [point] = reliability([score_bins(rows, minimum_cell=1)], groups=1)
    assert (point.probability, point.observed) == (
        pytest.approx(rows.probabilities.mean()),
        pytest.approx(rows.labels.mean()),
    )
