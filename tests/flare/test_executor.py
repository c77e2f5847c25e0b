"""What a site answers to a job's tasks."""

from pathlib import Path

import pytest
import torch
from nvflare.apis.dxo import from_shareable
from nvflare.app_common.abstract.fl_model import ParamsType
from nvflare.app_common.utils.fl_model_utils import FLModelUtils
from nvflare.app_opt.pt.decomposers import TensorDecomposer
from nvflare.fuel.utils import fobs

from support.asked_site import FEDBN, Site, reply_of
from support.fake_workload import FakeData, make_study
from support.in_process_worker import InProcessWorker
from wardround.flare import messages
from wardround.flare.executor import CONCURRENT_SITES, threads_per_site
from wardround.flare.workspace import site_environment
from wardround.learners.learner import Learner
from wardround.records.code import code_facts
from wardround.records.orders import Reply
from wardround.site.answers import read_runs


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path, FEDBN)


def _learner(site: Site) -> Learner:
    worker = site.executor._tasks._worker
    assert isinstance(worker, InProcessWorker)
    learner = worker.tasks._learner
    assert learner is not None
    return learner


def test_no_kept_entry_is_on_the_wire(site: Site) -> None:
    wires, kept = [], []  # entries change with every round, and those of any round must stay
    for index in range(2):
        result = site.ask(
            messages.TRAIN, round=index, model_round=index, acknowledged={"hospital-a": index - 1} if index else {}
        )
        wires.append(result)
        kept.append(_learner(site).own_entries())
    learner = _learner(site)
    assert not torch.equal(kept[0]["norm.weight"], kept[1]["norm.weight"])
    assert set(kept[0]) == {
        f"norm.{name}" for name in ("weight", "bias", "running_mean", "running_var", "num_batches_tracked")
    }
    fobs.register(TensorDecomposer)
    for wire in wires:
        assert (
            set(from_shareable(wire).data)
            == set(learner.shared_names)
            == {f"{layer}.{kind}" for layer in ("first", "last") for kind in ("weight", "bias")}
        )
        raw = fobs.dumps(wire)
        for name, tensor in [item for entries in kept for item in entries.items()]:
            assert name.encode() not in raw
            if tensor.numel() > 1:  # a counter's bytes can be anywhere by chance
                assert tensor.numpy().tobytes() not in raw
    moved = learner.shared_entries()["first.weight"] - site.shared["first.weight"]
    assert moved.numpy().tobytes() in fobs.dumps(wires[-1])  # the search would find what does cross


def test_the_sites_log_names_the_entries_that_stay_once(site: Site, tmp_path: Path) -> None:
    site.ask(messages.PREPARE, params=False)
    site.ask(messages.TRAIN)
    assert (tmp_path / "hospital-a" / "state" / "site.log").read_text().count("norm.running_mean") == 1


def test_training_sends_a_float32_difference_with_its_records(site: Site) -> None:
    answer = FLModelUtils.from_shareable(site.ask(messages.TRAIN))
    assert answer.params_type == ParamsType.DIFF
    assert all(isinstance(tensor, torch.Tensor) and tensor.dtype == torch.float32 for tensor in answer.params.values())
    reply = Reply.model_validate(answer.meta[messages.KEY])
    assert answer.metrics == {record.name: record.value for record in reply.records}
    assert reply.report is not None
    assert reply.report.steps == 4
    assert set(reply.report.seconds) == {"train", "validate"}


def test_validation_is_left_out_of_the_rounds_between(tmp_path: Path) -> None:
    site = Site(tmp_path, make_study(evaluation={"key_metric": "accuracy", "evaluate_every": 2}))
    counts = [len(reply_of(site.ask(messages.TRAIN, round=index, model_round=index)).records) for index in range(3)]
    assert counts == [1, 0, 1]


def test_prepare_tells_what_the_admin_declares_and_which_code_runs(tmp_path: Path) -> None:
    site = Site(tmp_path, FEDBN, data_version="2026-03", label_definition="two_readers")
    manifest = reply_of(site.ask(messages.PREPARE, params=False)).manifest
    assert (manifest.declared.data_version, manifest.declared.label_definition) == ("2026-03", "two_readers")
    assert manifest.code == code_facts()


def test_an_evaluating_hospital_has_its_statistics_re_measured(tmp_path: Path) -> None:
    site = Site(tmp_path, FEDBN, role="evaluate")
    assert reply_of(site.ask(messages.VALIDATE, model_round=2, split="test")).notes == ["statistics_re_measured"]


def test_scores_by_case_and_the_hospitals_own_model_stay_in_its_folder(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = []
    monkeypatch.setattr(FakeData, "draw", lambda _self, _network, split, folder, **_: drawn.append((split, folder)))
    site.ask(messages.TRAIN)
    result = site.ask(
        messages.VALIDATE, round=1, model_round=1, arm="best", split="test", acknowledged={"hospital-a": 0}
    )
    run = tmp_path / "hospital-a" / "state" / "run"
    assert '"test-0"' in (run / "cases" / "best.test.json").read_text()
    assert (run / "models" / "best.safetensors").is_file()
    assert drawn == [("test", run / "pictures")]
    assert b"test-0" not in fobs.dumps(result)


def test_a_picture_that_cannot_be_drawn_costs_no_scores(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakeData, "draw", lambda *_, **__: 1 / 0)
    assert reply_of(site.ask(messages.VALIDATE, arm="best", split="test")).records


def test_threads_are_cores_over_the_sites_on_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 64)
    monkeypatch.setattr("os.sched_getaffinity", lambda _process: set(range(8)))  # in a container
    assert site_environment(3)["OMP_NUM_THREADS"] == "2"
    monkeypatch.delenv(CONCURRENT_SITES, raising=False)
    assert threads_per_site() == 8
    monkeypatch.setenv(CONCURRENT_SITES, "3")
    assert threads_per_site() == 2
    monkeypatch.setenv(CONCURRENT_SITES, "20")
    assert threads_per_site() == 1


@pytest.mark.parametrize(("role", "index", "count"), [("train", 0, 1), ("train", 1, 0), ("evaluate", 0, 0)])
def test_sums_leave_only_for_an_initial_model_that_is_not_made_yet(
    tmp_path: Path, role: str, index: int, count: int
) -> None:
    site = Site(tmp_path, FEDBN, role=role)
    assert len(reply_of(site.ask(messages.PREPARE, params=False, round=index)).manifest.statistics) == count


def test_each_answer_is_noted_at_the_site_with_what_was_sent_and_no_words(site: Site, tmp_path: Path) -> None:
    site.ask(messages.PREPARE, params=False)
    sent = reply_of(site.ask(messages.TRAIN, round=0))
    site.ask(messages.TRAIN, round=1, params=False)  # nothing to train on
    (run,) = read_runs(tmp_path / "hospital-a" / "state")
    assert [(one.task, one.round, bool(one.error)) for one in run.answers] == [
        ("prepare", 0, False),
        ("train", 0, False),
        ("train", 1, True),
    ]
    assert run.answers[1].metrics == {one.name: one.value for one in sent.records if one.value is not None}
    assert run.answers[1].metrics
    assert {one.job for one in run.answers} == {site.context.get_job_id()}
