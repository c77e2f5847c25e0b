"""Settings that would break later, or in another library's words, are told where they are read."""

from typing import Any

import pytest

from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.brain_tumor.network import build_network
from wardround.workloads.brain_tumor.settings import UNetSettings
from wardround.workloads.brain_tumor.workload import make


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"contract": {"spacing_mm": [1, 0, 1]}}, "contract.spacing_mm.1"),
        ({"contract": {"spacing_mm": [1, 1, float("inf")]}}, "contract.spacing_mm.2"),
        ({"contract": {"sequences": ["t1n", "t1n"]}}, "each name once"),
        ({"patch": {"size": [16, 0, 16]}}, "patch.size.1"),
        ({"patch": {"size": [20, 16, 16]}}, "multiple of the product of strides"),
        ({"augmentation": {"shift": float("inf")}}, "augmentation.shift"),
        ({"network": {"channels": [8, 16], "strides": [0]}}, "network.strides.0"),
        ({"network": {"channels": [8, 0], "strides": [2]}}, "network.channels.1"),
        ({"network": {"channels": [8], "strides": []}}, "network.channels"),
        ({"network": {"channels": [8, 12], "strides": [2], "norm": "group"}}, "multiples of 8"),
        ({"network": {"channels": [8, 16], "strides": [2], "norm": "group", "residual_units": 1}}, "residual_units 0"),
    ],
)
def test_it_is_told_by_its_key(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(WardroundError) as caught:
        make(settings)
    assert told in str(caught.value)
    assert caught.value.code is Reason.CONFIGURATION_INVALID


@pytest.mark.parametrize(
    ("norm", "residual_units"), [("batch", 0), ("batch", 2), ("instance", 0), ("instance", 2), ("group", 0)]
)
def test_what_is_accepted_can_be_built(norm: str, residual_units: int) -> None:
    settings = {"channels": (8, 16), "strides": (2,), "norm": norm, "residual_units": residual_units}
    assert build_network(UNetSettings.model_validate(settings), channels_in=4) is not None
