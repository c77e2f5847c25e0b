"""Exactly the BatchNorm entries stay, found by type; nothing to keep is an error."""

import pytest
import torch
from torch import nn

from wardround.learners.sharing import KeepBatchNorm, ShareAll, initial_shared, split_entries
from wardround.records.reasons import Reason, WardroundError


class OwnNorm(nn.BatchNorm1d):
    """A hospital's subclass."""


class Nested(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.bn1 = nn.Conv2d(1, 2, 1)  # called like a norm, and none
        self.bn10 = nn.BatchNorm2d(2)
        self.group = nn.GroupNorm(1, 2)
        self.instance = nn.InstanceNorm2d(2)
        self.tracked = nn.InstanceNorm2d(2, affine=True, track_running_stats=True)
        self.sync = nn.SyncBatchNorm(2)
        self.plain = nn.Sequential(nn.Linear(2, 2), OwnNorm(2, affine=False))


WHOLE = {
    "bn10.weight",
    "bn10.bias",
    "bn10.running_mean",
    "bn10.running_var",
    "bn10.num_batches_tracked",
    "sync.weight",
    "sync.bias",
    "sync.running_mean",
    "sync.running_var",
    "sync.num_batches_tracked",
    "plain.1.running_mean",
    "plain.1.running_var",
    "plain.1.num_batches_tracked",
}


def test_the_exact_local_set() -> None:
    assert set(KeepBatchNorm().kept(Nested())) == WHOLE
    statistics = {name for name in WHOLE if not name.endswith(("weight", "bias"))}
    assert set(KeepBatchNorm(statistics_only=True).kept(Nested())) == statistics


def test_the_rest_is_shared_but_for_counters() -> None:
    network = Nested()
    entries = split_entries(network, KeepBatchNorm())
    state = network.state_dict()
    assert set(entries.shared) == {n for n, t in state.items() if n not in WHOLE and t.is_floating_point()}
    assert set(entries.rest) == {"tracked.num_batches_tracked"}
    assert set(split_entries(network, ShareAll()).rest) == {n for n, t in state.items() if not t.is_floating_point()}


@pytest.mark.parametrize(
    ("network", "statistics_only"),
    [
        (nn.Sequential(nn.Conv2d(1, 1, 1), nn.InstanceNorm2d(1)), False),
        (nn.Sequential(nn.GroupNorm(1, 1)), False),
        (nn.Sequential(nn.BatchNorm2d(1, affine=False, track_running_stats=False)), False),
        (nn.Sequential(nn.BatchNorm2d(1, track_running_stats=False)), True),
    ],
)
def test_nothing_to_keep_is_an_error(network: nn.Module, statistics_only: bool) -> None:
    with pytest.raises(WardroundError, match="nothing would stay") as caught:
        KeepBatchNorm(statistics_only).kept(network)
    assert caught.value.code is Reason.NOTHING_KEPT_LOCAL


def test_a_block_under_two_names_stays_under_both_and_crosses_under_one() -> None:
    """MONAI's DynUNet registers blocks twice."""
    network = nn.Module()
    network.block = nn.Sequential(nn.Conv1d(1, 1, 1), nn.BatchNorm1d(1))
    network.again = network.block
    assert {name.split(".")[0] for name in KeepBatchNorm().kept(network)} == {"block", "again"}
    entries = split_entries(network, KeepBatchNorm())
    assert set(entries.shared) == {"block.0.weight", "block.0.bias"}
    assert all(name.startswith("block.1.") for name in entries.kept)


def test_the_server_starts_from_copies_of_what_is_shared() -> None:
    network = Nested()
    shared = initial_shared(network, KeepBatchNorm())
    assert set(shared) == set(split_entries(network, KeepBatchNorm()).shared)
    shared["group.weight"].zero_()
    assert network.group.weight.detach().equal(torch.ones(2))
