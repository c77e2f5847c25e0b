import numpy as np
import torch
from sklearn.linear_model import LogisticRegression

from wardround.workloads.clinical_risk.reference import fit_reference
from wardround.workloads.clinical_risk.rows import Rows


def made_rows(*, positive=None):
    random = np.random.default_rng(0)
    inputs = random.normal(0.4, 0.1, (200, 3)).astype(np.float32)
    labels = inputs[:, 0] + random.normal(0, 0.1, 200) > 0.4
    if positive is not None:
        labels[:] = positive
    names = [str(place) for place in range(200)]
    return Rows(torch.from_numpy(inputs), torch.from_numpy(labels.astype(np.float32))[:, None], names, names, {})


def test_the_network_gives_the_probabilities_of_scikit_learn():
    rows = made_rows()
    mean, scale = rows.inputs.mean(0), rows.inputs.std(0)
    network = fit_reference(rows, mean, scale)
    standardised = ((rows.inputs - mean) / scale).double().numpy()
    model = LogisticRegression(max_iter=1000).fit(standardised, rows.targets[:, 0].numpy())
    np.testing.assert_allclose(
        network(rows.inputs).sigmoid()[:, 0].detach(), model.predict_proba(standardised)[:, 1], atol=1e-5
    )


def test_missing_values_are_at_the_mean():
    rows = made_rows()
    mean, scale = rows.inputs.mean(0), rows.inputs.std(0)
    network = fit_reference(rows, mean, scale)
    gap = torch.full((1, 3), float("nan"))
    assert torch.equal(network(gap), network(mean[None]))


def test_one_class_allows_no_reference():
    for positive in (False, True):
        rows = made_rows(positive=positive)
        assert fit_reference(rows, torch.zeros(3), torch.ones(3)) is None
