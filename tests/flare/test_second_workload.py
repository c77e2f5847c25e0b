"""A run of a workload with sums, cohorts, alert tables, a simple model and a recalibration: all of it arrives."""

from pathlib import Path
from typing import Any

import pytest
import torch
from nvflare.app_common.abstract.fl_model import FLModel

from support.fake_workload import FakeData, FakeWorkload, make_study
from support.loopback import Federation, use_fake_workload
from wardround.flare import messages
from wardround.learners.checkpoint import load_checkpoint
from wardround.learners.learner import Learner
from wardround.learners.personalise import Personalised
from wardround.records.arms import alone_at
from wardround.records.metric_record import find, undefined, value_of
from wardround.records.run_lines import DifferenceLine, RunLine, ScoreLine
from wardround.records.scores import Scores
from wardround.records.study import Study
from wardround.site.arm_rounds import Arm
from wardround.site.baseline_arm import train_and_score
from wardround.site.config import SiteConfig
from wardround.site.open_site import OpenSite

SITES: dict[str, dict[str, Any]] = {
    "hospital-a": {"seed": 1, "shift": 0.5},
    "hospital-b": {"seed": 2, "cases": 4, "gain": 3.0},
    "hospital-c": {"seed": 3, "offset": 2.0},
}
OUTSIDE = {**SITES, "hospital-d": {"seed": 4, "gain": 0.5, "role": "evaluate"}}


@pytest.fixture(autouse=True)
def workload(monkeypatch: pytest.MonkeyPatch) -> None:
    use_fake_workload(monkeypatch, lambda _study: FakeWorkload(scaled=True, has_reference=True))


def _study(**changes: Any) -> Study:
    settings: dict[str, Any] = {"federation": {"quorum": 2, "round_deadline_seconds": 1, "grace_period_seconds": 0}}
    return make_study(**{**settings, **changes})


def _lines(run: Federation, arm: str, split: str = "test") -> dict[str, ScoreLine]:
    return {line.site: line for line in run.scores if line.arm == arm and line.split == split}


def test_sums_over_the_minimum_cell_make_a_mean_that_every_model_holds(tmp_path: Path) -> None:
    run = Federation(tmp_path, _study(), OUTSIDE).run()
    assert run.end.status == "complete"
    manifests = {manifest.site: manifest for manifest in run.start.sites}
    assert {site: [t.name for t in manifest.statistics] for site, manifest in manifests.items()} == {
        "hospital-a": ["pixels"],
        "hospital-b": [],  # four patients, of at least five
        "hospital-c": ["pixels"],
        "hospital-d": [],  # never trained on
    }
    assert {site: list(manifest.suppressed) for site, manifest in manifests.items()} == {
        site: ["pixels"] if site == "hospital-b" else [] for site in OUTSIDE
    }
    assert {manifest.nature for manifest in manifests.values()} == {"generated"}
    pixels = torch.cat([FakeData(1).splits["train"][0], FakeData(3, offset=2.0).splits["train"][0]])
    for name in ("best", "last"):
        tensors = load_checkpoint(tmp_path / "server" / "job" / "models" / name).tensors
        assert tensors["scaling.mean"].item() == pytest.approx(pixels.mean().item(), rel=1e-5)
        assert tensors["scaling.scale"].item() == pytest.approx(pixels.std(correction=0).item(), rel=1e-5)
    assert all(line.alarms == [] and line.contributed == sorted(SITES) for line in run.rounds)


def test_without_its_minimum_cell_in_the_way_a_small_site_counts_too(tmp_path: Path) -> None:
    sites = {**SITES, "hospital-b": {**SITES["hospital-b"], "minimum_cell": 4}}
    run = Federation(tmp_path, _study(), sites).run()
    mean = load_checkpoint(tmp_path / "server" / "job" / "models" / "last").tensors["scaling.mean"].item()
    data = FakeData(1), FakeData(2, cases=4, gain=3.0), FakeData(3, offset=2.0)
    assert mean == pytest.approx(torch.cat([one.splits["train"][0] for one in data]).mean().item(), rel=1e-5)
    assert all(not manifest.suppressed for manifest in run.start.sites)


def test_cohorts_and_alerts_come_with_the_test_scores_alone(tmp_path: Path) -> None:
    run = Federation(tmp_path, _study(), SITES).run()
    for line in run.scores:
        assert (bool(line.cohorts), bool(line.alerts)) == ((True, True) if line.split == "test" else (False, False))


def test_the_simple_model_and_the_recalibrated_one_are_scored_where_a_site_trains(tmp_path: Path) -> None:
    evaluation = {"key_metric": "accuracy", "personalise_steps": 2, "recalibrate": True}
    run = Federation(tmp_path, _study(evaluation=evaluation), OUTSIDE).run()
    assert run.end.status == "complete"
    reference, recalibrated, personalised = (_lines(run, arm) for arm in ("reference", "recalibrated", "personalised"))
    assert set(reference) == set(recalibrated) == set(personalised) == set(SITES)
    assert {line.model_round for line in reference.values()} == {None}
    assert {line.model_round for line in recalibrated.values()} == {run.end.best_round}
    assert recalibrated["hospital-a"].notes[-1] == "recalibration_kept"
    assert recalibrated["hospital-a"].records != personalised["hospital-a"].records
    for site in ("hospital-b", "hospital-c"):
        assert recalibrated[site].notes == [*personalised[site].notes, "recalibration_not_kept"]
        assert recalibrated[site].records == personalised[site].records
    for arm in ("reference", "recalibrated"):
        assert (tmp_path / "hospital-a" / "state" / "run" / "cases" / f"{arm}.test.json").is_file()
    assert not (tmp_path / "hospital-a" / "state" / "run" / "models" / "recalibrated.safetensors").exists()


def test_fine_tuning_is_done_once_for_both_arms_that_rest_on_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    personalise, made = Learner.personalise, []

    def counted(learner: Learner, steps: int) -> Personalised:
        made.append(learner.site)
        return personalise(learner, steps)

    monkeypatch.setattr(Learner, "personalise", counted)
    evaluation = {"key_metric": "accuracy", "personalise_steps": 2, "recalibrate": True}
    Federation(tmp_path, _study(evaluation=evaluation), SITES).run()
    assert sorted(made) == sorted(SITES)


def test_recalibration_without_fine_tuning_starts_from_the_best_model(tmp_path: Path) -> None:
    run = Federation(tmp_path, _study(evaluation={"key_metric": "accuracy", "recalibrate": True}), SITES).run()
    assert not _lines(run, "personalised")
    best, recalibrated = _lines(run, "best"), _lines(run, "recalibrated")
    assert recalibrated["hospital-b"].records == best["hospital-b"].records
    assert recalibrated["hospital-a"].records != best["hospital-a"].records


def test_a_site_of_one_class_trains_contributes_and_has_no_simple_model(tmp_path: Path) -> None:
    sites = {**SITES, "hospital-c": {**SITES["hospital-c"], "one_class": True}}
    run = Federation(tmp_path, _study(), sites).run()
    assert run.end.status == "complete"
    assert all(line.contributed == sorted(SITES) for line in run.rounds)
    assert all(entry.report.moved > 0 for line in run.rounds for entry in line.sites.values())
    line = _lines(run, "reference")["hospital-c"]
    assert {(record.value, record.reason) for record in line.records} == {(None, "no_reference_model")}
    assert line.notes == ["no_reference_model"]
    balance = {record.name: record for record in _lines(run, "best")["hospital-c"].records}["balance"]
    assert (balance.value, balance.reason) == (None, "one_class")


def test_a_key_metric_that_a_sites_data_leave_undefined_is_told_with_one_that_would_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    score = FakeData.score

    def without_accuracy(data: FakeData, network: torch.nn.Module, split: str, *, detail: bool = False) -> Scores:
        found = score(data, network, split, detail=detail)
        other = found.records[0].model_copy(update={"name": "brier"})
        positive = bool(data.splits["train"][1].any())
        key = found.records[0] if positive else undefined("accuracy", "one_class", n=6, support=6)
        return found.model_copy(update={"records": [key, other, *found.records[1:]]})

    monkeypatch.setattr(FakeData, "score", without_accuracy)
    sites = {**SITES, "hospital-c": {**SITES["hospital-c"], "one_class": True}}
    run = Federation(tmp_path, _study(), sites).run()
    assert run.end.status == "partial"
    assert run.end.reasons == [
        "no round has a validation score from every training site: best is the last model; accuracy is undefined at "
        "hospital-c: one_class; choose an evaluation.key_metric that is defined there, such as brier"
    ]


def test_a_site_that_agreed_to_another_contract_ends_the_run_before_round_1(tmp_path: Path) -> None:
    sites = {**SITES, "hospital-b": {**SITES["hospital-b"], "contract": "its own"}}
    run = Federation(tmp_path, _study(), sites).run()
    assert run.end.status == "failed"
    assert run.rounds == []
    assert len(run.end.reasons) == 1
    assert run.end.reasons[0].startswith("hospital-b: its data contract differs from the study's")
    assert "age" not in run.end.reasons[0]  # the words stay in the site's own log
    assert "age has another unit" in (tmp_path / "hospital-b" / "state" / "site.log").read_text()


def test_sums_that_cannot_be_end_the_run_before_they_reach_a_model(tmp_path: Path) -> None:
    def tampered(site: str, task: str, answer: FLModel) -> FLModel:
        if (site, task) == ("hospital-c", messages.PREPARE):
            (sums,) = answer.meta[messages.KEY]["manifest"]["statistics"]
            sums["counts"]["pixels"] = 1e308
        return answer

    run = Federation(tmp_path, _study(), SITES, tamper=tampered).run()
    assert run.end.status == "failed"
    assert run.rounds == []
    assert run.end.reasons == ["hospital-c: statistics: pixels is over too many or few"]


def test_under_local_head_an_outside_hospital_has_no_figures_and_no_complete_model(tmp_path: Path) -> None:
    run = Federation(tmp_path, _study(algorithm={"kind": "local_head"}), OUTSIDE).run()
    best = _lines(run, "best")
    assert {record.reason for record in best["hospital-d"].records} == {"no_head_of_its_own"}
    assert best["hospital-d"].notes == ["no_head_of_its_own"]
    assert all(best[site].records[0].value is not None for site in SITES)
    complete = {
        site: load_checkpoint(tmp_path / site / "state" / "run" / "models" / "best").card.complete for site in OUTSIDE
    }
    assert complete == {**dict.fromkeys(SITES, True), "hospital-d": False}
    assert not load_checkpoint(tmp_path / "server" / "job" / "models" / "best").card.complete


@pytest.mark.parametrize(("mode", "released"), [("max", ["best"]), ("min", ["best", "last"])])
def test_each_site_that_trains_is_compared_with_a_model_of_its_own_where_it_is(
    tmp_path: Path, mode: str, released: list[str]
) -> None:
    """Each model that may be released, so last too where another one is best."""
    evaluation = {"key_metric": "accuracy", "key_metric_mode": mode, "compare_alone": True}
    run = Federation(tmp_path, _study(evaluation=evaluation), OUTSIDE).run()
    assert run.end.status == "complete"
    assert (run.end.best_round == run.end.last_round) == (released == ["best"])
    differences = {(line.arm, line.site): line for line in run.lines if isinstance(line, DifferenceLine)}
    assert set(differences) == {(arm, site) for arm in released for site in SITES}
    for (arm, site), line in differences.items():
        own, scored = _lines(run, alone_at(site)), _lines(run, arm)
        assert set(own) == {site}
        expected = value_of(scored[site].records, "accuracy") - value_of(own[site].records, "accuracy")
        told = find(line.records, "accuracy")
        assert (line.reference, line.split) == (alone_at(site), "test")
        assert told.value == pytest.approx(expected, abs=1e-5)
        assert (told.interval is None) == (told.n < 5)  # the site's minimum cell
        assert (tmp_path / site / "state" / "run" / "models" / f"alone-{site}.safetensors").is_file()
    assert not (tmp_path / "hospital-d" / "state" / "run" / "models" / "alone-hospital-d.safetensors").exists()


def test_a_sites_own_model_is_the_one_that_baselines_train(tmp_path: Path) -> None:
    study = _study(evaluation={"key_metric": "accuracy", "compare_alone": True})
    run = Federation(tmp_path, study, SITES).run()
    config = SiteConfig(
        name="hospital-a", state_folder=tmp_path / "again", cache_folder=tmp_path, data={"fake": SITES["hospital-a"]}
    )
    lines: list[RunLine] = []
    workload = FakeWorkload(scaled=True, has_reference=True)
    train_and_score(
        Arm("alone:hospital-a", ("hospital-a",)), study, [config], "run", tmp_path / "out",
        lambda *_: OpenSite(workload, FakeData(**SITES["hospital-a"])), lines.append,
    )  # fmt: skip
    scored = next(line for line in lines if isinstance(line, ScoreLine))
    told = _lines(run, "alone:hospital-a")["hospital-a"].records
    assert [(record.name, record.n) for record in told] == [(record.name, record.n) for record in scored.records]
    assert [record.value for record in told] == pytest.approx([record.value for record in scored.records], abs=1e-5)
