"""The proximal term's value and gradient are the closed form, over shared trainable entries only."""

import math

import pytest
import torch
from torch import nn

from support.fake_workload import FakeData, FakeWorkload, make_study
from wardround.learners.correction import ProximalCorrection
from wardround.learners.fedbn import FedProxFedBNLearner
from wardround.learners.fedprox import FedProxLearner
from wardround.learners.learner import Learner
from wardround.records.reasons import Reason, WardroundError


@pytest.mark.parametrize("mu", [0.0, 0.1, 3.0])
def test_value_and_gradient_equal_autograds(mu: float) -> None:
    torch.manual_seed(0)
    parameters = [nn.Parameter(torch.randn(3, 2)), nn.Parameter(torch.randn(4))]
    reference = [torch.randn(3, 2), torch.randn(4)]
    loss = sum((p**3).sum() for p in parameters)
    term = mu / 2 * sum(((p - r) ** 2).sum() for p, r in zip(parameters, reference, strict=True))
    exact = torch.autograd.grad(loss + term, parameters, retain_graph=True)
    loss.backward()

    correction = ProximalCorrection(mu)
    correction.begin(parameters, reference)
    correction.apply()

    for parameter, gradient in zip(parameters, exact, strict=True):
        torch.testing.assert_close(parameter.grad, gradient)
    assert correction.value() == pytest.approx(term.item())
    assert correction.gradient_norm() == pytest.approx(mu * math.sqrt(2 * term.item() / mu) if mu else 0.0)


@pytest.mark.parametrize("mu", [-1.0, math.inf, math.nan])
def test_a_bad_mu_is_refused(mu: float) -> None:
    with pytest.raises(WardroundError, match=r"algorithm\.mu") as caught:
        ProximalCorrection(mu)
    assert caught.value.code is Reason.CONFIGURATION_INVALID


def test_mu_zero_warns(caplog: pytest.LogCaptureFixture) -> None:
    ProximalCorrection(0.0)
    assert "does nothing" in caplog.text


def test_a_reference_that_is_the_live_weight_is_refused() -> None:
    parameter = nn.Parameter(torch.ones(2))
    with pytest.raises(WardroundError, match="live weights"):
        ProximalCorrection(0.1).begin([parameter], [parameter.detach()])


def test_a_parameter_without_a_gradient_is_left_alone() -> None:
    used, unused = nn.Parameter(torch.ones(1)), nn.Parameter(torch.ones(1))
    used.grad = torch.zeros(1)
    correction = ProximalCorrection(1.0)
    correction.begin([used, unused], [torch.zeros(1), torch.ones(1)])
    correction.apply()
    assert used.grad.item() == 1.0
    assert unused.grad is None


def _gradient_step(kind: type[Learner], name: str, mu: float, frozen: bool = False) -> dict[str, torch.Tensor]:
    """Two SGD steps: the pull is 0 at the first and mu (w - w_global) at the second."""
    study = make_study(
        algorithm={"kind": name, "mu": mu} if mu else {"kind": name},
        training={"rounds": 1, "local_steps": 2, "learning_rate": 0.5, "optimizer": "sgd", "schedule": "constant"},
    )
    learner = kind(FakeWorkload(), FakeData(0), study, site="a", run="r")
    if frozen:
        learner.network.first.weight.requires_grad_(False)
    learner.load(learner.shared_entries(), model_round=0)
    own = learner.network.norm.weight.detach().clone()
    update = learner.train(0)
    return {**update.difference, "own": learner.network.norm.weight.detach() - own}


def test_the_second_step_differs_by_the_pull_alone() -> None:
    one = make_study(training={"rounds": 1, "local_steps": 1, "learning_rate": 0.5, "optimizer": "sgd"})
    first = Learner(FakeWorkload(), FakeData(0), one, site="a", run="r")
    first.load(first.shared_entries(), model_round=0)
    moved = first.train(0).difference  # w - w_global when the second step begins
    plain = _gradient_step(Learner, "fedavg", 0.0)
    pulled = _gradient_step(FedProxLearner, "fedprox", 0.3)
    for name in ("first.weight", "norm.weight", "last.bias"):
        torch.testing.assert_close(pulled[name], plain[name] - 0.5 * 0.3 * moved[name], rtol=1e-4, atol=1e-6)
    for name in ("norm.running_mean", "norm.running_var"):  # buffers have no gradient, and no pull
        torch.testing.assert_close(pulled[name], plain[name])


def test_kept_and_frozen_entries_are_not_pulled() -> None:
    plain = _gradient_step(Learner, "fedavg", 0.0)
    both = _gradient_step(FedProxFedBNLearner, "fedprox_fedbn", 0.3)
    assert not any(name.startswith("norm.") for name in both)
    torch.testing.assert_close(both["own"], plain["norm.weight"])  # the layer's step without a pull
    frozen = _gradient_step(FedProxLearner, "fedprox", 0.3, frozen=True)
    assert not frozen["first.weight"].any()
    assert frozen["last.weight"].any()
