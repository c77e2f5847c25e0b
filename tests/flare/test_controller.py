"""A whole run, FLARE's processes left out: who contributes, what is chosen, and how it ends."""

import json
from pathlib import Path
from typing import Any

import pytest
from nvflare.app_common.abstract.fl_model import FLModel

from support.fake_workload import FakeWorkload
from support.loopback import SITES, Federation, quick_study, use_fake_workload
from wardround.flare import exchange, messages
from wardround.learners.checkpoint import load_checkpoint
from wardround.records.orders import Reply

OUTSIDE = {**SITES, "hospital-d": {"seed": 4, "gain": 0.5, "role": "evaluate"}}


def _failing(site: str, rounds: set[int]) -> Any:
    def tamper(name: str, task: str, answer: FLModel) -> FLModel:
        if task == messages.TRAIN and name == site and tamper.round in rounds:
            answer = FLModel(metrics={}, meta=messages.meta(Reply(error="site_failed")))
        if task == messages.TRAIN and name == "hospital-c":
            tamper.round += 1
        return answer

    tamper.round = 0
    return tamper


def test_a_run_records_every_round_and_scores_every_arm_at_every_site(tmp_path: Path) -> None:
    study = quick_study(evaluation={"key_metric": "accuracy", "personalise_steps": 2})
    run = Federation(tmp_path, study, OUTSIDE).run()

    assert run.controller.panics == []
    assert [site.site for site in run.start.sites] == sorted(OUTSIDE)
    assert {site.site: site.role for site in run.start.sites}["hospital-d"] == "evaluate"
    assert [line.contributed for line in run.rounds] == [sorted(SITES)] * 3
    weights = {site: entry.weight for site, entry in run.rounds[0].sites.items()}
    assert weights == pytest.approx({"hospital-a": 6 / 16, "hospital-b": 4 / 16, "hospital-c": 6 / 16})
    assert all(line.moved > 0 and line.seconds["total"] > 0 for line in run.rounds)
    arms = {(line.arm, line.split, line.site) for line in run.scores}
    assert arms == {
        *((arm, "test", site) for arm in ("best", "last") for site in OUTSIDE),
        *(("personalised", "test", site) for site in SITES),  # an outside hospital has no model of its own
        *(("last", "validation", site) for site in SITES),  # and selects nothing
    }
    assert run.end.status == "complete"
    assert run.end.reasons == []


def test_sums_that_a_site_held_back_in_a_round_are_named_in_its_line(tmp_path: Path) -> None:
    def tamper(site: str, task: str, answer: FLModel) -> FLModel:
        if (site, task) == ("hospital-b", messages.TRAIN):
            answer.meta[messages.KEY]["suppressed"] = ["voxels"]
        return answer

    run = Federation(tmp_path, quick_study(), SITES, tamper=tamper).run()
    told = [{site: entry.suppressed for site, entry in line.sites.items() if entry.suppressed} for line in run.rounds]
    assert told == [{"hospital-b": ["voxels"]}] * 3


def test_best_is_chosen_over_all_rounds_and_the_last_aggregate(tmp_path: Path) -> None:
    run = Federation(tmp_path, quick_study(), SITES).run()
    means = {line.round: _mean(entry.records for entry in line.sites.values()) for line in run.rounds}
    means[3] = _mean(line.records for line in run.scores if line.split == "validation")
    assert run.end.best_round == max(means, key=lambda index: (means[index], -index))
    assert run.end.last_round == 3
    models = tmp_path / "server" / "job" / "models"
    assert load_checkpoint(models / "best").card.model_round == run.end.best_round
    assert load_checkpoint(models / "last").card.weights_sha256 == run.end.weights_sha256
    assert load_checkpoint(models / "best").card.weights_sha256 == run.end.best_weights_sha256


def test_a_job_of_one_round_scores_its_only_aggregate(tmp_path: Path) -> None:
    study = quick_study(training={"rounds": 1, "local_steps": 30, "learning_rate": 0.05})
    alike = {name: {"seed": index} for index, name in enumerate(SITES)}
    run = Federation(tmp_path, study, alike).run()
    assert (run.end.best_round, run.end.last_round) == (1, 1)
    best, last = (
        [line.records for line in run.scores if line.arm == arm and line.split == "test"] for arm in ("best", "last")
    )
    assert best == last


def test_the_same_seed_gives_the_same_weights_whoever_answers_first(tmp_path: Path) -> None:
    study = quick_study(algorithm={"kind": "fedbn"})
    first = Federation(tmp_path / "1", study, SITES).run().end.weights_sha256
    other_order = Federation(tmp_path / "2", study, SITES, order=sorted(SITES, reverse=True)).run().end.weights_sha256
    other_seed = (
        Federation(tmp_path / "3", quick_study(algorithm={"kind": "fedbn"}, seed=1), SITES).run().end.weights_sha256
    )
    assert first == other_order
    assert first != other_seed


def test_one_failing_site_does_not_end_the_run_while_the_quorum_holds(tmp_path: Path) -> None:
    run = Federation(tmp_path, quick_study(), SITES, tamper=_failing("hospital-b", {1})).run()
    assert [line.contributed for line in run.rounds] == [
        ["hospital-a", "hospital-b", "hospital-c"],
        ["hospital-a", "hospital-c"],
        ["hospital-a", "hospital-b", "hospital-c"],
    ]
    assert run.rounds[1].failed == {"hospital-b": "site_failed"}
    assert run.end.status == "complete"


@pytest.mark.parametrize(("failing", "best"), [(set(), 1), ({1}, 2)])
def test_a_round_that_a_site_did_not_score_cannot_win(tmp_path: Path, failing: set[int], best: int) -> None:
    """The model after round 1 has the highest figures wherever it is scored, the one after it the second highest."""
    fail = _failing("hospital-b", failing)
    figures = {1: 3.0, 2: 2.0}

    def tamper(site: str, task: str, answer: FLModel) -> FLModel:
        index = fail.round
        answer = fail(site, task, answer)
        for record in answer.meta[messages.KEY]["records"]:
            if task == messages.TRAIN and index in figures:
                record["value"] = figures[index]
        return answer

    run = Federation(tmp_path, quick_study(), SITES, tamper=tamper).run()
    assert run.end.best_round == best


def test_a_site_commits_its_entries_only_of_rounds_that_the_server_took(tmp_path: Path) -> None:
    study = quick_study(algorithm={"kind": "fedbn"})
    run = Federation(tmp_path, study, SITES, tamper=_failing("hospital-b", {1})).run()
    kept = {
        site: {file.name for file in (tmp_path / site / "state" / "run" / "kept").glob("*.safetensors")}
        for site in SITES
    }
    assert kept["hospital-a"] == {f"kept-00000{i}.safetensors" for i in (1, 2, 3)}
    assert kept["hospital-b"] == {f"kept-00000{i}.safetensors" for i in (1, 3)}
    assert run.end.status == "complete"


def test_a_site_that_failed_in_most_rounds_makes_the_run_partial(tmp_path: Path) -> None:
    run = Federation(tmp_path, quick_study(), SITES, tamper=_failing("hospital-b", {1, 2})).run()
    assert [len(line.contributed) for line in run.rounds] == [3, 2, 2]
    assert run.end.status == "partial"
    assert run.end.reasons == ["hospital-b: rarely_contributed"]


def test_a_site_that_is_not_connected_is_told_from_a_late_one(tmp_path: Path) -> None:
    run = Federation(tmp_path, quick_study(), SITES)
    connected = run.controller.connected

    def without_c_in_round_2() -> list[str]:
        away = getattr(run.controller, "current_round", 0) == 1
        return [site for site in connected() if not (away and site == "hospital-c")]

    run.controller.connected = without_c_in_round_2  # type: ignore[method-assign]
    run.run()
    assert [line.failed for line in run.rounds] == [{}, {"hospital-c": "disconnected"}, {}]
    assert [line.late for line in run.rounds] == [[], [], []]
    assert run.end.status == "complete"


def test_too_few_contributions_end_the_run_with_the_reasons_in_one_line(tmp_path: Path) -> None:
    run = Federation(tmp_path, quick_study(federation={"quorum": 3}), SITES, tamper=_failing("hospital-b", {1})).run()
    reason = "round 2: 2 sites of a quorum of 3 (hospital-b: site_failed)"
    assert run.end.status == "failed"
    assert run.end.reasons == [reason]
    assert run.controller.panics == [reason]
    assert load_checkpoint(tmp_path / "server" / "job" / "models" / "last").card.model_round == 1


def test_below_the_minimum_nothing_is_trained(tmp_path: Path) -> None:
    two = {name: SITES[name] for name in ("hospital-a", "hospital-b")}
    run = Federation(tmp_path, quick_study(federation={"quorum": 3}), two, expected=sorted(SITES)).run()
    assert run.end.status == "failed"
    assert run.end.reasons == ["prepare: 2 training sites, federation.quorum is 3 (hospital-c: absent)"]
    assert run.rounds == []


def test_an_evaluating_hospital_does_not_count_towards_the_quorum(tmp_path: Path) -> None:
    sites = {name: OUTSIDE[name] for name in ("hospital-a", "hospital-d")}
    run = Federation(tmp_path, quick_study(), sites).run()
    assert run.end.reasons == ["prepare: 1 training sites, federation.quorum is 2 (none failed)"]


def test_a_site_without_metrics_makes_the_run_partial(tmp_path: Path) -> None:
    def tamper(site: str, task: str, answer: FLModel) -> FLModel:
        if site == "hospital-b" and task in (messages.TRAIN, messages.VALIDATE):
            answer.meta[messages.KEY]["records"] = []
        return answer

    run = Federation(tmp_path, quick_study(), SITES, tamper=tamper).run()
    assert run.end.status == "partial"
    assert "hospital-b: metrics_missing" in run.end.reasons
    assert run.end.best_round == run.end.last_round  # no round can be compared, and the record says so
    assert any("best is the last model" in reason for reason in run.end.reasons)


def test_a_key_metric_that_nobody_reports_is_refused_before_round_1(tmp_path: Path) -> None:
    run = Federation(tmp_path, quick_study(evaluation={"key_metric": "dice_wt"}), SITES).run()
    assert run.end.status == "failed"
    assert run.end.reasons == [
        "evaluation.key_metric 'dice_wt' is not reported by the workload, which reports: accuracy"
    ]
    assert run.rounds == []


def test_a_site_that_the_others_waited_for_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(exchange.time, "monotonic", lambda: now[0])

    def tamper(site: str, task: str, answer: FLModel) -> FLModel:
        now[0] += 60.0 if (site, task) == ("hospital-c", messages.TRAIN) else 0.1
        return answer

    patient = quick_study(federation={"quorum": 2, "round_deadline_seconds": 300, "grace_period_seconds": 299})
    run = Federation(tmp_path, patient, SITES, tamper=tamper).run()
    assert run.rounds[0].alarms == ["hospital-c: straggler"]
    assert run.rounds[0].contributed == list(SITES)


def test_choosing_on_too_few_cases_raises_an_alarm(tmp_path: Path) -> None:
    def tamper(site: str, task: str, answer: FLModel) -> FLModel:
        if task == messages.TRAIN and site == "hospital-b":
            few = {"status": "low_support", "reason": "fewer_than_3_cases"}
            reply = answer.meta[messages.KEY]
            reply["records"] = [{**record, **few} for record in reply["records"]]
        return answer

    run = Federation(tmp_path, quick_study(), SITES, tamper=tamper).run()
    assert run.rounds[0].alarms == ["hospital-b: chosen_on_few_cases"]


def test_a_site_with_another_network_ends_the_run_in_prepare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_fake_workload(monkeypatch)
    run = Federation(tmp_path, quick_study(), SITES)
    monkeypatch.setattr("wardround.site.open_site.make_workload", lambda _study: FakeWorkload(norm="none"))
    run.run()
    assert run.end.status == "failed"
    (reason,) = run.end.reasons
    assert reason.startswith("hospital-a: its network lacks norm.bias, norm.running_mean, norm.running_var and 1 more")


def test_progress_can_be_asked_for_without_the_logs(tmp_path: Path) -> None:
    run = Federation(tmp_path, quick_study(), SITES).run()
    stats = run.controller.record.stats()
    assert stats["line_count"] == len(run.lines)
    assert [json.loads(line)["kind"] for line in stats["recent_lines"]][-1] == "end"


def _mean(sites: Any) -> float:
    values = [record.value for records in sites for record in records if record.name == "accuracy"]
    return sum(values) / len(values)
