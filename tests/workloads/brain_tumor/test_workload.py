import pytest
import torch

from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.brain_tumor.workload import make

SMALL = {"network": {"channels": [4, 8], "strides": [2]}, "patch": {"size": [16, 16, 16]}}


def test_builds_a_network_with_a_channel_for_each_sequence_of_the_contract():
    workload = make({**SMALL, "contract": {"sequences": ["t1c", "t2f"]}})
    assert workload.network()(torch.zeros(2, 2, 16, 16, 16)).shape == (2, 3, 16, 16, 16)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"patches": {}}, "patches"),
        ({"patch": {"size": [30, 32, 32]}}, "multiple of the product of strides"),
        ({"network": {"norm": "layer"}}, "network.norm"),
    ],
)
def test_a_wrong_setting_is_named(settings, named):
    with pytest.raises(WardroundError, match=named) as error:
        make(settings)
    assert error.value.code is Reason.CONFIGURATION_INVALID
    assert str(error.value).startswith("job.yaml: workload")


def test_the_contract_digest_depends_on_the_contract_alone():
    base = make({}).contract_digest()
    assert make({"network": {"norm": "group"}}).contract_digest() == base
    assert make({"contract": {"registration_space": "SRI24", "orientation": "RAS"}}).contract_digest() == base
    assert make({"contract": {"spacing_mm": [1, 1, 2]}}).contract_digest() != base
    assert make({"contract": {"sequences": ["t1c", "t1n", "t2w", "t2f"]}}).contract_digest() != base
