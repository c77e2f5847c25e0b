"""The weighted mean: the closed form, order of arrival, a total of 0, integers refused."""

import itertools

import pytest
import torch

from wardround.aggregation.mean import mean_figures, weighted_mean
from wardround.records.reasons import Reason, WardroundError


def updates(sites: int = 4) -> dict[str, dict[str, torch.Tensor]]:
    generator = torch.Generator().manual_seed(0)
    return {f"s{i}": {n: torch.randn(50, generator=generator) for n in ("w", "v")} for i in range(sites)}


def test_it_is_the_weighted_mean() -> None:
    given, weights = updates(), {"s0": 1.0, "s1": 2.0, "s2": 3.0, "s3": 0.5}
    mean = weighted_mean(given, weights)
    for name in ("w", "v"):
        exact = sum(weights[s] * given[s][name].double() for s in given) / 6.5
        torch.testing.assert_close(mean[name].double(), exact, rtol=1e-5, atol=1e-6)


def test_the_order_of_arrival_changes_no_bit() -> None:
    given, weights = updates(), {"s0": 0.1, "s1": 0.2, "s2": 0.3, "s3": 0.4}
    first = weighted_mean(given, weights)
    for order in itertools.permutations(given):
        again = weighted_mean({site: dict(reversed(given[site].items())) for site in order}, weights)
        assert all(torch.equal(first[name], again[name]) for name in first)


def test_it_leaves_the_updates_alone_and_averages_half_precision_in_float32() -> None:
    given = {"a": {"w": torch.full((3,), 60000.0, dtype=torch.float16)}, "b": {"w": torch.zeros(3)}}
    mean = weighted_mean(given, {"a": 3.0, "b": 1.0})
    assert mean["w"].tolist() == [45000.0] * 3  # 3 x 60000 is beyond float16
    assert given["a"]["w"].tolist() == [60000.0] * 3


@pytest.mark.parametrize("weights", [{"s0": 0.0, "s1": 0.0}, {"s0": -1.0, "s1": 2.0}, {"s0": float("nan"), "s1": 1.0}])
def test_weights_that_are_none_raise(weights: dict[str, float]) -> None:
    with pytest.raises(WardroundError) as caught:
        weighted_mean(updates(2), weights)
    assert caught.value.code is Reason.COUNT_INVALID


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({}, Reason.ALL_REJECTED),
        ({"s0": {"w": torch.ones(1)}, "s1": {"v": torch.ones(1)}}, Reason.NAMES_MISMATCH),
        ({"s0": {"w": torch.ones(1, dtype=torch.int64)}}, Reason.TYPE_MISMATCH),
    ],
)
def test_what_cannot_be_averaged_raises(given: dict[str, dict[str, torch.Tensor]], code: Reason) -> None:
    with pytest.raises(WardroundError) as caught:
        weighted_mean(given, dict.fromkeys(given, 1.0))
    assert caught.value.code is code


def test_a_figure_is_averaged_over_the_sites_that_have_it() -> None:
    figures = {"a": {"dice": 0.2, "auroc": 0.9}, "b": {"dice": 0.6}, "left out": {"dice": 1.0}}
    assert mean_figures(figures, {"a": 0.25, "b": 0.75}) == pytest.approx({"dice": 0.5, "auroc": 0.9})
