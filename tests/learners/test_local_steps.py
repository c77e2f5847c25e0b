"""A site's steps: as many as the study says, on batches that follow study, site, purpose and round."""

from typing import Any

import pytest
import torch

from support.fake_workload import FakeData, FakeWorkload, make_study
from wardround.learners.initial import initial_network
from wardround.learners.local_steps import LocalSteps


def _steps(site: str = "a", **study: Any) -> tuple[torch.nn.Module, LocalSteps]:
    made = make_study(**study)
    network = initial_network(FakeWorkload(), made)
    return network, LocalSteps(
        network, FakeWorkload().loss(), FakeData(0, cases=8), made, site=site, device=torch.device("cpu")
    )


def _after(purpose: str, index: int, **more: Any) -> torch.Tensor:
    network, steps = _steps(**more)
    steps.make(purpose, index, 2)
    return torch.cat([parameter.detach().flatten() for parameter in network.parameters()])


def test_a_rounds_steps_are_the_studys_number_or_that_of_its_epochs() -> None:
    training = {"rounds": 1, "learning_rate": 0.01, "batch_size": 3}
    assert _steps(training={**training, "local_steps": 7})[1].in_a_round == 7
    assert _steps(training={**training, "local_epochs": 2})[1].in_a_round == 2 * 3


def test_the_same_purpose_site_and_round_make_the_same_steps() -> None:
    assert torch.equal(_after("train", 0), _after("train", 0))


@pytest.mark.parametrize(
    ("purpose", "index", "more"), [("personalise", 0, {}), ("train", 1, {}), ("train", 0, {"site": "b"})]
)
def test_another_purpose_site_or_round_draws_other_batches(purpose: str, index: int, more: dict[str, str]) -> None:
    assert not torch.equal(_after("train", 0), _after(purpose, index, **more))
