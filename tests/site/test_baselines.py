"""Baselines: who trains on what, for how many steps, chosen how, scored where; and the differences from them."""

from collections import Counter
from pathlib import Path

import pytest
import torch

from support.fake_sites import open_fake_site, open_scaled_site, open_site_with_a_broken_neighbor
from support.fake_workload import FakeData, FakeWorkload, PooledFakeData, make_study
from wardround.learners.checkpoint import load_checkpoint
from wardround.records.metric_record import value_of
from wardround.records.reasons import Reason, WardroundError
from wardround.records.run_lines import BaselineRoundLine, RunLine, ScoreLine
from wardround.records.scores import Scores
from wardround.site.arm_rounds import Arm
from wardround.site.baseline_arm import train_and_score
from wardround.site.baselines import baseline_arms, run_baselines
from wardround.site.case_store import read_case_scores, write_case_scores
from wardround.site.config import SiteConfig
from wardround.site.differences import differences

STUDY = make_study(training={"rounds": 3, "local_steps": 3, "learning_rate": 0.05})


@pytest.fixture
def configs(tmp_path: Path) -> list[SiteConfig]:
    def config(name: str, seed: int, role: str = "train") -> SiteConfig:
        return SiteConfig(
            name=name,
            role=role,
            synthetic=True,
            state_folder=tmp_path / name,
            cache_folder=tmp_path,
            data={"fake": {"seed": seed}},
        )

    return [config("hospital-a", 1), config("hospital-b", 2), config("outside", 3, "evaluate")]


def test_all_arms_side_by_side_are_scored_everywhere(configs: list[SiteConfig], tmp_path: Path) -> None:
    lines: list[RunLine] = []
    run_baselines(STUDY, configs, run="r", out=tmp_path / "out", on_line=lines.append, opener=open_fake_site)

    arms = {
        "pooled": {"hospital-a", "hospital-b"},
        "alone:hospital-a": {"hospital-a"},
        "alone:hospital-b": {"hospital-b"},
    }
    rounds = [line for line in lines if isinstance(line, BaselineRoundLine)]
    for arm, judges in arms.items():
        assert [line.round for line in rounds if line.arm == arm] == [1, 2, 3]
        assert all(set(line.sites) == judges for line in rounds if line.arm == arm)
    scores = [line for line in lines if isinstance(line, ScoreLine)]
    assert Counter((s.arm, s.site) for s in scores) == {(a, c.name): 1 for a in arms for c in configs}
    assert {s.role for s in scores if s.site == "outside"} == {"evaluate"}

    for score in scores:  # the round with the best mean over the arm's own validation cases, the earliest of equals
        curve = {
            line.round: sum(value_of(r, "accuracy") or 0.0 for r in line.sites.values()) / len(line.sites)
            for line in rounds
            if line.arm == score.arm
        }
        assert score.model_round == max(curve, key=lambda index: (curve[index], -index))
        cases = read_case_scores(tmp_path / score.site / "r", score.arm, "test")
        assert sum(c.values["accuracy"] or 0 for c in cases) / len(cases) == pytest.approx(score.records[0].value)
    checkpoint = load_checkpoint(tmp_path / "out" / "models" / "alone-hospital-a")
    checkpoint.require_complete()
    assert checkpoint.card.model_round == next(s.model_round for s in scores if s.arm == "alone:hospital-a")


def _in_this_process(configs: list[SiteConfig], arm: Arm, out: Path, **changes: object) -> list[RunLine]:
    lines: list[RunLine] = []
    train_and_score(arm, make_study(**changes), configs, "r", out, open_fake_site, lines.append)
    return lines


def test_pooled_makes_the_steps_of_all_sites(
    configs: list[SiteConfig], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from wardround.learners import local_steps

    made: list[int] = []
    steps = local_steps.run_steps

    def counted(*arguments: object, **options: object) -> object:
        report = steps(*arguments, **options)  # type: ignore[arg-type]
        made.append(report.made)
        return report

    monkeypatch.setattr(local_steps, "run_steps", counted)
    pooled, alone, _ = baseline_arms(configs)
    _in_this_process(configs, pooled, tmp_path, training={"rounds": 1, "local_steps": 3, "learning_rate": 0.01})
    _in_this_process(configs, alone, tmp_path, training={"rounds": 1, "local_steps": 3, "learning_rate": 0.01})
    epochs = {"rounds": 1, "local_epochs": 1, "learning_rate": 0.01, "batch_size": 3}
    _in_this_process(configs, pooled, tmp_path, training=epochs)
    assert made == [6, 3, 4]  # 6 cases a site in batches of 3


def test_a_fedbn_study_has_the_same_baselines(configs: list[SiteConfig], tmp_path: Path) -> None:
    alone = baseline_arms(configs)[1]
    plain = _in_this_process(configs, alone, tmp_path / "plain")
    fedbn = _in_this_process(configs, alone, tmp_path / "fedbn", algorithm={"kind": "fedprox_fedbn", "mu": 0.1})
    assert plain == fedbn


def test_validation_is_every_so_often_and_always_last(configs: list[SiteConfig], tmp_path: Path) -> None:
    lines = _in_this_process(
        configs,
        baseline_arms(configs)[1],
        tmp_path,
        training={"rounds": 5, "local_steps": 1, "learning_rate": 0.01},
        evaluation={"key_metric": "accuracy", "evaluate_every": 2},
    )
    assert [line.round for line in lines if isinstance(line, BaselineRoundLine)] == [2, 4, 5]


def test_one_round_is_its_own_best(configs: list[SiteConfig], tmp_path: Path) -> None:
    training = {"rounds": 1, "local_steps": 1, "learning_rate": 0.01}
    lines = _in_this_process(configs, baseline_arms(configs)[1], tmp_path, training=training)
    assert {line.model_round for line in lines if isinstance(line, ScoreLine)} == {1}


def test_a_baseline_repeats_bit_for_bit(configs: list[SiteConfig], tmp_path: Path) -> None:
    pooled = baseline_arms(configs)[0]
    for name in ("one", "two"):
        _in_this_process(configs, pooled, tmp_path / name)
        torch.rand(3)
    one, two = (load_checkpoint(tmp_path / name / "models" / "pooled") for name in ("one", "two"))
    assert one.card.weights_sha256 == two.card.weights_sha256


def test_a_failing_arm_is_named(configs: list[SiteConfig], tmp_path: Path) -> None:
    with pytest.raises(WardroundError, match=r"(pooled|alone:hospital-.): hospital-.: case-1: no t1c") as caught:
        run_baselines(
            STUDY, configs, run="r", out=tmp_path, on_line=lambda _: None, opener=open_site_with_a_broken_neighbor
        )
    assert caught.value.code is Reason.DATA_MISSING


def test_arms_follow_the_roles(configs: list[SiteConfig]) -> None:
    assert [arm.name for arm in baseline_arms(configs)] == ["pooled", "alone:hospital-a", "alone:hospital-b"]
    assert [arm.name for arm in baseline_arms(configs[1:])] == ["alone:hospital-b"]
    with pytest.raises(WardroundError, match="role train"):
        baseline_arms(configs[2:])


def test_each_arm_starts_from_the_sums_of_the_cases_that_it_trains_on(
    configs: list[SiteConfig], tmp_path: Path
) -> None:
    pooled, alone, _ = baseline_arms(configs)
    for arm in (pooled, alone):
        train_and_score(arm, STUDY, configs, "r", tmp_path, open_scaled_site, lambda _line: None)
        images = [FakeData(seed).splits["train"][0] for seed in (1, 2)[: len(arm.sites)]]
        tensors = load_checkpoint(tmp_path / "models" / arm.name.replace(":", "-")).tensors
        assert tensors["scaling.mean"].item() == pytest.approx(torch.cat(images).mean().item(), rel=1e-5)


def test_the_simple_model_of_all_data_is_scored_beside_the_pooled_one(
    configs: list[SiteConfig], tmp_path: Path
) -> None:
    lines: list[RunLine] = []
    for arm in baseline_arms(configs):
        train_and_score(arm, STUDY, configs, "r", tmp_path, open_scaled_site, lines.append)
    scores = [line for line in lines if isinstance(line, ScoreLine) and line.arm == "pooled_reference"]
    assert [line.site for line in scores] == [config.name for config in configs]
    assert {line.model_round for line in scores} == {None}
    simple = FakeWorkload().reference(PooledFakeData([FakeData(1), FakeData(2)]))
    assert simple is not None
    assert scores[0].records == FakeData(1).score(simple, "test", detail=True).records
    assert scores[0].cohorts
    assert scores[0].alerts
    assert read_case_scores(tmp_path / "outside" / "r", "pooled_reference", "test")


def test_without_a_simple_model_its_figures_are_undefined_and_nothing_is_compared(
    configs: list[SiteConfig], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FakeWorkload, "reference", lambda *_: None)
    lines: list[RunLine] = []
    train_and_score(baseline_arms(configs)[0], STUDY, configs, "r", tmp_path, open_scaled_site, lines.append)
    scores = [line for line in lines if isinstance(line, ScoreLine) and line.arm == "pooled_reference"]
    assert {(r.value, r.reason) for line in scores for r in line.records} == {(None, "no_reference_model")}
    assert {tuple(line.notes) for line in scores} == {("no_reference_model",)}
    assert not any(d.reference == "pooled_reference" for d in differences(STUDY, FakeWorkload(), configs, run="r"))


def test_differences_are_paired_by_case_and_left_out_where_an_arm_is_missing(
    configs: list[SiteConfig], tmp_path: Path
) -> None:
    def scored(site: str, arm: str, shift: float) -> None:
        data = open_fake_site(STUDY, next(c for c in configs if c.name == site)).data
        cases = data.score(torch.nn.Conv2d(1, 1, 1), "test").cases
        moved = [c.model_copy(update={"values": {"accuracy": i / 10 + shift}}) for i, c in enumerate(cases)]
        write_case_scores(tmp_path / site / "r", arm, Scores(split="test", records=[], cases=moved))

    for arm, shift in {
        "best": 0.2,
        "last": 0.15,
        "personalised": 0.25,
        "alone:hospital-a": 0.1,
        "alone:hospital-b": 0.0,
        "recalibrated": 0.3,
        "reference": 0.05,
    }.items():
        scored("hospital-a", arm, shift)
    for arm, shift in {
        "best": 0.2,
        "last": 0.2,
        "alone:hospital-a": 0.1,
        "pooled": 0.5,
        "pooled_reference": 0.0,
        "recalibrated": 0.2,
    }.items():
        scored("outside", arm, shift)

    found = {
        (d.site, d.arm, d.reference): d.records[0].value for d in differences(STUDY, FakeWorkload(), configs, run="r")
    }
    assert found == {
        ("hospital-a", "personalised", "best"): pytest.approx(0.05),
        ("hospital-a", "recalibrated", "best"): pytest.approx(0.1),
        ("hospital-a", "recalibrated", "personalised"): pytest.approx(0.05),
        ("hospital-a", "best", "last"): pytest.approx(0.05),
        ("hospital-a", "best", "alone:hospital-a"): pytest.approx(0.1),
        ("hospital-a", "last", "alone:hospital-a"): pytest.approx(0.05),
        ("hospital-a", "best", "reference"): pytest.approx(0.15),
        ("outside", "best", "last"): pytest.approx(0.0),
        ("outside", "best", "alone:hospital-a"): pytest.approx(0.1),
        ("outside", "pooled", "best"): pytest.approx(0.3),
        ("outside", "best", "pooled_reference"): pytest.approx(0.2),
    }


def test_a_hospital_that_has_not_agreed_is_part_of_no_baseline(configs: list[SiteConfig], tmp_path: Path) -> None:
    hospital = configs[0].model_copy(update={"synthetic": False})
    with pytest.raises(WardroundError) as caught:
        run_baselines(make_study(), [hospital, *configs[1:]], run="run", out=tmp_path / "out", on_line=lambda _: None)
    assert caught.value.code is Reason.CONSENT_MISSING
