"""A device that is not there is told before anything is read."""

import pytest
import torch

from support.fake_workload import FakeData, FakeWorkload, make_study
from wardround.learners.devices import usable_device
from wardround.learners.make import make_learner
from wardround.records.reasons import Reason, WardroundError


def test_the_cpu_is_always_there() -> None:
    assert usable_device("cpu") == torch.device("cpu")


@pytest.mark.parametrize("name", ["gpu", "mps", "cuda:", "CUDA", "", "cpu:0\n"])
def test_another_name_is_told(name: str) -> None:
    with pytest.raises(WardroundError, match="expected cpu, cuda or cuda:N") as raised:
        usable_device(name)
    assert raised.value.code is Reason.CONFIGURATION_INVALID


@pytest.mark.parametrize(("name", "count"), [("cuda", 0), ("cuda:1", 1)])
def test_a_device_that_this_machine_lacks_is_told(monkeypatch: pytest.MonkeyPatch, name: str, count: int) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: count > 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: count)
    with pytest.raises(WardroundError, match=f"{count} CUDA devices"):
        usable_device(name)
    with pytest.raises(WardroundError, match="CUDA"):
        make_learner(FakeWorkload(), FakeData(0), make_study(), site="a", run="r", device=name)


def test_devices_that_are_there_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert usable_device("cuda:1") == torch.device("cuda:1")
