"""What the server makes of updates that do not fit, or that stand out among the others."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from nvflare.app_common.abstract.fl_model import FLModel

from support.loopback import SITES, Federation, quick_study
from wardround.flare import messages
from wardround.learners.checkpoint import load_checkpoint

OUTSIDE = {**SITES, "hospital-d": {"seed": 4, "gain": 0.5, "role": "evaluate"}}


def test_a_site_that_counts_steps_it_cannot_have_made_is_rejected(tmp_path: Path) -> None:
    def tamper(site: str, task: str, answer: FLModel) -> FLModel:
        if task == messages.TRAIN and site == "hospital-b":
            answer.meta[messages.KEY]["report"]["steps"] += 1
        return answer

    training = {"rounds": 1, "local_epochs": 2, "batch_size": 4, "learning_rate": 0.05}  # 2 x ceil(4 / 4) steps there
    study = quick_study(aggregation={"weighting": "steps"}, training=training)
    run = Federation(tmp_path, study, SITES, tamper=tamper).run()
    assert run.rounds[0].rejected == {"hospital-b": "count_invalid"}
    assert run.rounds[0].contributed == ["hospital-a", "hospital-c"]
    assert {site: entry.report.steps for site, entry in run.rounds[0].sites.items()} == dict.fromkeys(
        ("hospital-a", "hospital-c"), 4
    )


def test_every_update_rejected_leaves_the_good_model_alone(tmp_path: Path) -> None:
    def tamper(_site: str, task: str, answer: FLModel) -> FLModel:
        if task == messages.TRAIN and run.controller.current_round > 0:
            answer.params = {name: tensor * float("nan") for name, tensor in answer.params.items()}
        return answer

    run = Federation(tmp_path, quick_study(), SITES, tamper=tamper)
    run.run()
    assert run.rounds[1].rejected == dict.fromkeys(SITES, "not_finite")
    assert run.rounds[1].alarms == ["all_rejected"]
    assert run.rounds[1].moved == 0
    last = load_checkpoint(tmp_path / "server" / "job" / "models" / "last")
    assert last.card.model_round == 1
    assert all(bool(torch.isfinite(tensor).all()) for tensor in last.tensors.values())
    assert run.end.status == "partial"


def test_a_site_that_returns_what_it_received_raises_an_alarm(tmp_path: Path) -> None:
    def tamper(site: str, task: str, answer: FLModel) -> FLModel:
        if task == messages.TRAIN and site == "hospital-a":
            answer.params = {name: torch.zeros_like(tensor) for name, tensor in answer.params.items()}
        return answer

    run = Federation(tmp_path, quick_study(), SITES, tamper=tamper).run()
    assert run.rounds[0].alarms == ["hospital-a: no_update"]


def test_an_update_that_pulls_against_the_others_is_flagged_in_the_record(tmp_path: Path) -> None:
    def tamper(site: str, task: str, answer: FLModel) -> FLModel:
        if task == messages.TRAIN and site == "hospital-c":
            answer.params = {name: -10 * tensor for name, tensor in answer.params.items()}
        return answer

    alike = {name: {"seed": index} for index, name in enumerate(SITES)}
    run = Federation(tmp_path, quick_study(), alike, tamper=tamper).run()
    first = run.rounds[0]
    assert first.alarms == ["hospital-c: update_opposed", "hospital-c: update_much_larger"]
    assert first.sites["hospital-c"].flags == ["update_opposed", "update_much_larger"]
    cosine, ratio = first.sites["hospital-c"].cosine, first.sites["hospital-c"].norm_ratio
    assert cosine is not None
    assert cosine < -0.5
    assert ratio == pytest.approx(10, rel=0.5)
    assert "hospital-c" in first.contributed  # a flag turns nobody away


def test_a_million_fold_update_is_turned_away_without_any_setting_and_leaves_no_trace(tmp_path: Path) -> None:
    def run(name: str, change: Callable[[FLModel], FLModel]) -> Federation:
        def tamper(site: str, task: str, answer: FLModel) -> FLModel:
            hit = task == messages.TRAIN and site == "hospital-c" and federation.controller.current_round == 1
            return change(answer) if hit else answer

        federation = Federation(tmp_path / name, quick_study(), SITES, tamper=tamper)
        return federation.run()

    def enlarge(answer: FLModel) -> FLModel:
        answer.params = {name: 1e6 * tensor for name, tensor in answer.params.items()}
        return answer

    def spoil(answer: FLModel) -> FLModel:
        answer.params = {}
        return answer

    large, without = run("large", enlarge), run("without", spoil)
    assert large.rounds[1].rejected == {"hospital-c": "norm_too_large"}
    assert large.rounds[1].contributed == ["hospital-a", "hospital-b"]
    assert large.end.status == "complete"
    assert large.end.weights_sha256 == without.end.weights_sha256
