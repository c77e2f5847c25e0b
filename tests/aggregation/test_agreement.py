"""Which updates are unlike the others', against directions and lengths that are known."""

import math

import pytest
import torch
from torch import Tensor

from wardround.aggregation.agreement import Agreement, agreement

SIZE = 4000  # dimensions enough that 3 / sqrt(SIZE) is below the limit


def _agreements(updates: dict[str, Tensor], **changes: dict[str, float]) -> dict[str, Agreement]:
    weights = changes.get("weights") or dict.fromkeys(updates, 1.0)
    steps = {site: int(changes.get("steps", {}).get(site, 10)) for site in updates}
    return agreement({site: {"w": update} for site, update in updates.items()}, weights, steps)


def _random(count: int, *, size: int = SIZE, seed: int = 0) -> list[Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(size, generator=generator) for _ in range(count)]


def test_cosine_and_norm_are_those_of_the_definition() -> None:
    a, b, c = (
        {"x": torch.tensor(x), "y": torch.tensor([[y]])} for x, y in (([1.0, 0], 0.0), ([1.0, 1], 2.0), ([0, 3.0], 4))
    )
    found = agreement({"a": a, "b": b, "c": c}, {"a": 1, "b": 1, "c": 3}, {"a": 1, "b": 1, "c": 1})
    mean = [(1 * 1 + 3 * 0) / 4, (1 * 1 + 3 * 3) / 4, (1 * 2 + 3 * 4) / 4]  # of b and c, by their weights
    assert found["a"].cosine == pytest.approx(mean[0] / math.hypot(*mean))
    assert found["c"].norm_ratio == pytest.approx(5 / math.sqrt(6))  # norms 1, sqrt(6), 5
    assert found["b"].norm_ratio == 1


def test_one_that_pulls_against_others_who_agree_is_an_outlier() -> None:
    common, *noise = _random(5)
    updates = {f"hospital-{n}": common + 0.7 * own for n, own in zip("abcd", noise, strict=True)}
    assert all(not found.flags for found in _agreements(updates).values())
    updates["hospital-d"] = -updates["hospital-d"]
    found = _agreements(updates)
    assert {site: [*one.flags] for site, one in found.items() if one.flags} == {"hospital-d": ["update_opposed"]}
    assert found["hospital-d"].cosine < -0.5


def test_directions_that_have_nothing_in_common_are_no_outliers() -> None:
    for seed in range(5):
        for size in (30, SIZE):
            updates = dict(zip("abcd", _random(4, size=size, seed=seed), strict=True))
            assert not any(found.flags for found in _agreements(updates).values())


def test_where_the_mean_no_longer_moves_opposed_updates_are_no_outliers() -> None:
    a, b = _random(2)
    found = _agreements({"a": a, "b": b, "c": -(a + b)})
    assert found["c"].cosine == pytest.approx(-1)
    assert not any(one.flags for one in found.values())


def test_two_sites_that_disagree_do_not_tell_which_is_off() -> None:
    (a,) = _random(1)
    found = _agreements({"a": a, "b": -a})
    assert [one.cosine for one in found.values()] == [pytest.approx(-1)] * 2
    assert not any(one.flags for one in found.values())


@pytest.mark.parametrize(
    ("factor", "steps", "flags"),
    [
        (2.9, 10, []),
        (3.1, 10, ["update_much_larger"]),
        (20.0, 100, []),  # ten times the steps
        (31.0, 100, ["update_much_larger"]),
        (3.1, 1, ["update_much_larger"]),
        (0.34, 10, []),
        (0.32, 10, ["update_much_smaller"]),
        (0.1, 2, []),
        (0.06, 2, ["update_much_smaller"]),
    ],
)
def test_a_length_that_steps_do_not_explain_is_an_outlier(factor: float, steps: int, flags: list[str]) -> None:
    (common,) = _random(1)
    found = _agreements({"a": common, "b": common, "c": factor * common}, steps={"c": steps})
    assert [*found["c"].flags] == flags
    assert not found["a"].flags + found["b"].flags


def test_an_update_of_nothing_has_no_direction_and_is_told_elsewhere() -> None:
    a, b = _random(2)
    found = _agreements({"a": a, "b": b, "c": torch.zeros(SIZE)})
    assert found["c"] == Agreement(None, 0.0)
    assert agreement({"a": {"w": torch.zeros(2)}}, {"a": 1.0}, {"a": 1}) == {"a": Agreement(None, None)}
    assert agreement({}, {}, {}) == {}


def test_a_million_fold_update_is_one_in_length_alone() -> None:
    a, b, c = _random(3)
    found = _agreements({"a": a + b, "b": a + c, "c": 1e6 * (a - b)})
    assert [*found["c"].flags] == ["update_much_larger"]
