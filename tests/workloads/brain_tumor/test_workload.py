from pathlib import Path

import pytest
import torch

from wardround.learners.make import make_learner
from wardround.records.reasons import Reason, WardroundError
from wardround.records.study import Study
from wardround.workloads.brain_tumor.workload import make
from wardround.workloads.registry import make_workload

SMALL = {"network": {"channels": [4, 8], "strides": [2]}, "patch": {"size": [16, 16, 16]}}


def test_builds_a_network_with_a_channel_for_each_sequence_of_the_contract():
    workload = make({**SMALL, "contract": {"sequences": ["t1c", "t2f"]}})
    assert workload.network()(torch.zeros(2, 2, 16, 16, 16)).shape == (2, 3, 16, 16, 16)


@pytest.mark.parametrize(("convention", "folder"), [("brats2023", "/cases/one"), ("msd", "/cases")])
def test_a_public_case_is_read_alone_without_a_site_yaml(convention: str, folder: str) -> None:
    section = make(SMALL).section_by_convention(Path("/cases/one"), convention)
    assert section == {"folder": Path(folder), "layout": convention, "labels": convention}


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"patches": {}}, "patches"),
        ({"patch": {"size": [30, 32, 32]}}, "multiple of the product of strides"),
        ({"network": {"norm": "layer"}}, "network.norm"),
        ({"network": {"channels": [4, 1_000_000_000], "strides": [2]}}, "network.channels"),
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


@pytest.mark.parametrize("key", ["hd95_mean", "hd95_tc", "brats_dice_wt"])
def test_a_key_metric_of_the_last_round_alone_is_told_as_such(key):
    study = Study.model_validate(
        {
            "name": "small",
            "workload": {"kind": "brain_tumor", **SMALL},
            "training": {"rounds": 1, "local_steps": 1, "learning_rate": 0.01},
            "evaluation": {"key_metric": key, "key_metric_mode": "min"},
        }
    )
    with pytest.raises(WardroundError, match="only after the last round") as raised:
        make_learner(make_workload(study), None, study, site="a", run="r")
    assert raised.value.code is Reason.METRIC_UNKNOWN
    assert "dice_mean" in str(raised.value)
