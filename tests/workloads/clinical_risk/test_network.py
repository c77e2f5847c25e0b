import pytest
import torch
from torch import nn

from wardround.workloads.clinical_risk.network import RiskMLP, Standardise
from wardround.workloads.clinical_risk.settings import NetworkSettings

NAN = float("nan")


def test_hidden_layers_are_linear_batchnorm_relu_dropout():
    network = RiskMLP(5, NetworkSettings(hidden=(4, 3), dropout=0.2))
    kinds = [nn.Linear, nn.BatchNorm1d, nn.ReLU, nn.Dropout]
    assert [type(layer) for layer in network.backbone] == 2 * kinds
    assert network(torch.zeros(6, 5)).shape == (6, 1)


def test_without_hidden_layers_it_is_logistic_regression():
    network = RiskMLP(2, NetworkSettings(hidden=()))
    assert sorted(network.state_dict()) == ["head.bias", "head.weight", "standardise.mean", "standardise.scale"]
    inputs = torch.tensor([[1.0, 2.0]])
    assert network(inputs).item() == pytest.approx(network.head(inputs).item())


def test_inputs_are_standardised_and_missing_ones_are_at_the_mean():
    layer = Standardise(2)
    layer.mean.copy_(torch.tensor([0.5, 0.2]))
    layer.scale.copy_(torch.tensor([0.25, 0.1]))
    assert layer(torch.tensor([[1.0, NAN], [NAN, 0.1]])).tolist() == [[2, 0], [0, pytest.approx(-1)]]


@pytest.mark.parametrize("norm", ["batch", "none"])
def test_missing_inputs_give_a_finite_loss_and_finite_gradients(norm):
    network = RiskMLP(3, NetworkSettings(hidden=(4,), norm=norm))
    inputs = torch.full((8, 3), NAN)
    inputs[0, 0] = 1
    nn.BCEWithLogitsLoss()(network(inputs), torch.ones(8, 1)).backward()
    assert all(parameter.grad.isfinite().all() for parameter in network.parameters())
