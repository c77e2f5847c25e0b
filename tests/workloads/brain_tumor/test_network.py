import pytest
import torch
from torch import nn

from wardround.workloads.brain_tumor.network import build_network, last_block
from wardround.workloads.brain_tumor.settings import UNetSettings


@pytest.mark.parametrize(
    ("norm", "kind"),
    [("batch", nn.BatchNorm3d), ("instance", nn.InstanceNorm3d), ("group", nn.GroupNorm)],
)
def test_every_norm_has_affine_entries(norm, kind):
    """MONAI's own default, InstanceNorm without affine, would leave FedBN nothing to keep."""
    network = build_network(UNetSettings(channels=(8, 16), strides=(2,), norm=norm), channels_in=4)
    layers = [module for module in network.modules() if isinstance(module, kind)]
    assert layers
    assert all(layer.weight is not None and layer.bias is not None for layer in layers)


def test_shapes_and_size_of_the_default_network():
    network = build_network(UNetSettings(), channels_in=4).eval()
    with torch.no_grad():
        assert network(torch.zeros(1, 4, 16, 16, 16)).shape == (1, 3, 16, 16, 16)
    assert sum(parameter.numel() for parameter in network.parameters()) == pytest.approx(0.49e6, rel=0.01)


def test_the_global_seed_decides_the_initial_values():
    settings = UNetSettings(channels=(4, 8), strides=(2,))
    states = []
    for seed in (3, 3, 4):
        torch.manual_seed(seed)
        states.append(next(build_network(settings, channels_in=2).parameters()).detach())
    assert torch.equal(states[0], states[1])
    assert not torch.equal(states[0], states[2])


@pytest.mark.parametrize("residual_units", [0, 2])
def test_the_head_is_what_turns_features_into_regions(residual_units):
    settings = UNetSettings(channels=(4, 8), strides=(2,), residual_units=residual_units)
    network = build_network(settings, channels_in=4)
    head = last_block(network)
    assert next(network.state_dict()[name] for name in head).shape[1] == 3  # of a transposed convolution: out channels
    with torch.no_grad():
        for name in head:
            network.state_dict()[name].zero_()
    assert not network.eval()(torch.randn(1, 4, 16, 16, 16)).any()
