"""Paused and continued training of the workloads themselves: their own batches, losses and networks."""

from itertools import count
from pathlib import Path
from typing import Any

import pytest
import torch

from e2e.conftest import tiny_study
from support.small_risk import risk_study
from wardround.learners.learner import Learner
from wardround.learners.pausing import Paused, Pauses
from wardround.records.study import Study
from wardround.site.config import SiteConfig, load_site_config
from wardround.site.open_site import open_learner
from wardround.workloads.brain_tumor.synth import writer as images
from wardround.workloads.clinical_risk.synth import writer as tables

STEPS = 4
TRAINING: dict[str, Any] = {"rounds": 2, "local_steps": STEPS, "learning_rate": 0.01}


@pytest.fixture(params=["small patches", "large patches", "tables"])
def case(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Study, SiteConfig]:
    """Large patches are made ahead, by threads."""
    if request.param == "tables":
        return risk_study(**TRAINING), load_site_config(
            tables.write_hospitals(tmp_path, hospitals=1, rows=150, seed=2)[0]
        )
    size = [16, 16, 16] if request.param == "small patches" else [64, 64, 64]
    network = {"channels": [4, 8], "strides": [2]}
    study = tiny_study(workload={"kind": "brain_tumor", "network": network, "patch": {"size": size}}, training=TRAINING)
    files = images.write_hospitals(tmp_path, hospitals=1, size=24, cases=images.CaseCounts(2, 1, 1), seed=1)
    return study, load_site_config(files[0])


def test_a_paused_and_continued_round_gives_the_same_bits(case: tuple[Study, SiteConfig], tmp_path: Path) -> None:
    study, config = case
    whole = _open(study, config, tmp_path / "whole")
    shared = whole.shared_entries()
    whole.load(shared, model_round=0)
    expected = whole.train(0)

    asked = count()
    paused = _open(study, config, tmp_path / "own")
    paused.load(shared, model_round=0)
    with pytest.raises(Paused):
        paused.train(0, Pauses(tmp_path / "paused", lambda: next(asked) == STEPS // 2))
    other = _open(study, config, tmp_path / "own")
    other.load(shared, model_round=0)
    update = other.train(0, Pauses(tmp_path / "paused", lambda: False))
    assert all(torch.equal(update.difference[name], tensor) for name, tensor in expected.difference.items())
    assert update.report.loss == expected.report.loss
    own, other_own = whole.own_entries(), other.own_entries()
    assert own.keys() == other_own.keys()
    assert all(torch.equal(own[name], other_own[name]) for name in own)


def _open(study: Study, config: SiteConfig, state: Path) -> Learner:
    return open_learner(study, config.model_copy(update={"state_folder": state}), run="run")
