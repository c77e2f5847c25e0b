"""A step that was not made is not counted as one."""

import pytest
import torch
from torch import nn

from wardround.learners.steps import step_made


@pytest.mark.parametrize(("gradient", "made"), [(1.0, True), (float("inf"), False), (float("nan"), False)])
def test_a_step_that_the_scaler_leaves_out_is_not_made(gradient: float, made: bool) -> None:
    layer = nn.Linear(1, 1, bias=False)
    optimizer = torch.optim.SGD(layer.parameters(), lr=1.0)
    scaler = torch.amp.GradScaler("cpu", enabled=True)
    before = layer.weight.detach().clone()
    scaler.scale(layer(torch.ones(1, 1)).sum()).backward()
    layer.weight.grad.mul_(gradient)
    scaler.unscale_(optimizer)
    assert step_made(scaler, optimizer) is made
    assert torch.equal(layer.weight, before) is not made


def test_without_half_precision_every_step_is_made() -> None:
    layer = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(layer.parameters(), lr=1.0)
    scaler = torch.amp.GradScaler("cpu", enabled=False)
    scaler.scale(layer(torch.ones(1, 1)).sum()).backward()
    assert step_made(scaler, optimizer)
