import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from wardround.metrics.labelled_rows import labelled_rows
from wardround.metrics.ranking import WeightedRanking, auroc, average_precision


@pytest.mark.parametrize("decimals", [1, 2, 8])
@pytest.mark.parametrize("prevalence", [0.05, 0.5, 0.9])
def test_weighted_figures_are_those_of_scikit_learn_with_ties(decimals, prevalence):
    generator = np.random.default_rng(0)
    labels = (generator.random(200) < prevalence).astype(int)
    probabilities = np.round(np.clip(generator.normal(0.3 + 0.2 * labels, 0.2), 0, 1), decimals)
    rows = labelled_rows(probabilities, labels)
    weights = generator.poisson(1.0, (20, 200))
    areas, averages = WeightedRanking(rows).figures(weights)
    for weight, area, average in zip(weights, areas, averages, strict=True):
        expected = roc_auc_score(rows.labels, rows.probabilities, sample_weight=weight)
        assert area == pytest.approx(expected, abs=1e-12)
        expected = average_precision_score(rows.labels, rows.probabilities, sample_weight=weight)
        assert average == pytest.approx(expected, abs=1e-12)


def test_equal_weights_give_the_figures_themselves():
    rows = labelled_rows([0.1, 0.4, 0.4, 0.8], [0, 1, 0, 1])
    [area], [average] = WeightedRanking(rows).figures(np.ones((1, 4), int))
    assert (area, average) == (pytest.approx(auroc(rows)), pytest.approx(average_precision(rows)))
    assert auroc(rows) == pytest.approx(0.875)


def test_a_weighting_without_a_class_has_no_figure():
    rows = labelled_rows([0.1, 0.4, 0.8], [0, 1, 0])
    areas, averages = WeightedRanking(rows).figures(np.array([[1, 0, 1], [0, 2, 0]]))
    assert np.isnan(areas).all()
    assert np.isnan(averages).all()
