"""Logistic regression, the simple model that stands beside the network in every report."""

import torch
from sklearn.linear_model import LogisticRegression
from torch import Tensor

from wardround.workloads.clinical_risk.network import RiskMLP
from wardround.workloads.clinical_risk.rows import Rows
from wardround.workloads.clinical_risk.settings import NetworkSettings

INVERSE_PENALTY = 1.0  # scikit-learn's default, on standardised inputs
_ITERATIONS = 1_000


def fit_reference(rows: Rows, mean: Tensor, scale: Tensor) -> RiskMLP | None:
    """L2-regularised logistic regression over the rows, as a network without hidden layers.

        minimise  sum_i log(1 + exp(-y_i (w x_i + b))) + |w|^2 / 2,   y_i in {-1, 1}

    It takes the same encoded inputs as the study's network and gives logits [batch, 1]. None where the rows are not of
    two classes.

    Args:
        rows: training rows.
        mean, scale: of the inputs over these rows; missing values are at the mean.
    """
    if len(rows.targets.unique()) < 2:
        return None
    network = RiskMLP(len(mean), NetworkSettings(hidden=(), dropout=0, norm="none")).eval()
    model = LogisticRegression(C=INVERSE_PENALTY, max_iter=_ITERATIONS)
    with torch.no_grad():
        network.standardise.mean.copy_(mean)
        network.standardise.scale.copy_(scale)
        model.fit(network.standardise(rows.inputs).double().numpy(), rows.targets[:, 0].numpy())
        network.head.weight.copy_(torch.from_numpy(model.coef_))
        network.head.bias.copy_(torch.from_numpy(model.intercept_))
    return network
