"""What leaves a hospital: results and codes. No words of a failure, no entry that is kept local."""

import logging
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import torch
from nvflare.apis.dxo import from_shareable
from nvflare.apis.fl_constant import ReturnCode
from nvflare.apis.shareable import Shareable
from nvflare.apis.signal import Signal
from nvflare.app_common.abstract.fl_model import FLModel, ParamsType
from nvflare.app_common.utils.fl_model_utils import FLModelUtils
from nvflare.app_opt.pt.decomposers import TensorDecomposer
from nvflare.fuel.utils import fobs

from support.consents import approve
from support.fake_workload import FakeData, FakeWorkload, make_study
from support.in_process_worker import InProcessWorker
from support.loopback import site_executor
from wardround.flare import messages
from wardround.flare.executor import CONCURRENT_SITES, threads_per_site
from wardround.flare.workspace import site_environment
from wardround.learners.initial import initial_shared_entries
from wardround.learners.learner import Learner
from wardround.records.code import code_facts
from wardround.records.orders import Order, Reply
from wardround.records.reasons import Reason, WardroundError
from wardround.records.study import Study
from wardround.site import supervised_tasks
from wardround.site.answers import read_runs
from wardround.site.permission import Permission
from wardround.site.refusal import Refusal

FEDBN = make_study(algorithm={"kind": "fedbn"})
PATIENT = "/data/patient-0042/t1c.nii.gz"


class Site:
    """One executor, spoken to in FLARE's terms."""

    def __init__(self, folder: Path, study: Study, **data: Any) -> None:
        self.study = study
        self.executor, self.context = site_executor(folder, study, "hospital-a", {"seed": 1, **data})
        self.shared = initial_shared_entries(FakeWorkload(), study)

    def ask(self, task: str, *, params: bool = True, meta: dict[str, Any] | None = None, **order: Any) -> Shareable:
        model = FLModel(
            params=dict(self.shared) if params else None,
            params_type=ParamsType.FULL if params else None,
            metrics=None if params else {},
            meta=messages.meta(Order(run="run", **order)) if meta is None else meta,
        )
        return self.executor.execute(task, FLModelUtils.to_shareable(model), self.context, Signal())


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path, FEDBN)


def _reply(shareable: Shareable) -> Reply:
    assert shareable.get_return_code() == ReturnCode.OK
    return Reply.model_validate(FLModelUtils.from_shareable(shareable).meta[messages.KEY])


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
    counts = [len(_reply(site.ask(messages.TRAIN, round=index, model_round=index)).records) for index in range(3)]
    assert counts == [1, 0, 1]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ValueError(f"cannot read {PATIENT}"), Reason.SITE_FAILED),
        (WardroundError(Reason.DATA_UNREADABLE, f"{PATIENT}: truncated"), Reason.DATA_UNREADABLE),
        (ModuleNotFoundError(f"No module named {PATIENT!r}"), Reason.MODULE_MISSING),
        (MemoryError(PATIENT), Reason.OUT_OF_MEMORY),
        (torch.OutOfMemoryError(PATIENT), Reason.OUT_OF_MEMORY),
        (SystemExit(PATIENT), Reason.SITE_FAILED),
    ],
)
def test_an_error_leaves_as_a_code_and_its_words_stay_in_the_sites_own_log(
    site: Site,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: BaseException,
    code: Reason,
) -> None:
    def fail(*_: Any) -> None:
        raise error

    monkeypatch.setattr(Learner, "train", fail)
    result = site.ask(messages.TRAIN)
    assert _reply(result).error == code
    assert b"patient-0042" not in fobs.dumps(result)
    assert "patient-0042" not in caplog.text  # what reaches the root logger, FLARE can stream
    assert "patient-0042" in (tmp_path / "hospital-a" / "state" / "site.log").read_text()
    assert not logging.getLogger("wardround").propagate


def test_a_missing_site_yaml_is_a_code_too(site: Site, tmp_path: Path) -> None:
    (tmp_path / "hospital-a" / "local" / "site.yaml").unlink()
    assert _reply(site.ask(messages.PREPARE, params=False)).error == Reason.CONFIGURATION_INVALID
    log = tmp_path / "hospital-a" / "job" / "site.log"  # no state folder is known
    assert "found neither site.hospital-a.yaml nor site.yaml" in log.read_text()


def test_a_state_folder_that_cannot_be_made_is_a_code_and_its_path_stays(
    site: Site, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    blocked = tmp_path / "hospital-a" / "patient-0042"
    blocked.write_text("a file where a folder should be")
    file = tmp_path / "hospital-a" / "local" / "site.yaml"
    file.write_text(file.read_text().replace("/state", "/patient-0042/state"))
    site.ask(messages.TRAIN)
    result = site.ask(messages.TRAIN, round=1, model_round=1, acknowledged={"hospital-a": 0})
    assert _reply(result).error == Reason.SITE_FAILED
    assert b"patient-0042" not in fobs.dumps(result)
    assert "patient-0042" not in caplog.text
    assert "patient-0042" in (tmp_path / "hospital-a" / "job" / "site.log").read_text()


def test_without_any_place_for_a_log_the_task_is_done_and_nothing_is_said(
    site: Site, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(PATIENT)

    monkeypatch.setattr(logging, "FileHandler", type("Refused", (logging.FileHandler,), {"__init__": refuse}))
    assert _reply(site.ask(messages.PREPARE, params=False)).manifest is not None
    monkeypatch.setattr(Learner, "train", refuse)
    assert _reply(site.ask(messages.TRAIN)).error == Reason.SITE_FAILED
    captured = capfd.readouterr()
    assert "patient-0042" not in captured.out + captured.err + caplog.text


def test_prepare_tells_what_the_admin_declares_and_which_code_runs(tmp_path: Path) -> None:
    site = Site(tmp_path, FEDBN, data_version="2026-03", label_definition="two_readers")
    manifest = _reply(site.ask(messages.PREPARE, params=False)).manifest
    assert (manifest.declared.data_version, manifest.declared.label_definition) == ("2026-03", "two_readers")
    assert manifest.code == code_facts()


def test_another_sites_yaml_is_refused(site: Site, tmp_path: Path) -> None:
    file = tmp_path / "hospital-a" / "local" / "site.yaml"
    file.write_text(file.read_text().replace("name: hospital-a", "name: hospital-b"))
    assert _reply(site.ask(messages.PREPARE, params=False)).error == Reason.CONFIGURATION_INVALID


def test_a_hospital_with_patients_data_refuses_a_quorum_below_three_itself(tmp_path: Path) -> None:
    small = make_study(federation={"quorum": 2})
    site = Site(tmp_path / "train", small, synthetic=False)
    approve(small, tmp_path / "train" / "hospital-a" / "state")
    assert _reply(site.ask(messages.PREPARE, params=False)).error == Reason.QUORUM_TOO_SMALL
    assert _reply(site.ask(messages.TRAIN)).error == Reason.QUORUM_TOO_SMALL  # a server may leave prepare out
    assert "set 3 or more" in (tmp_path / "train" / "hospital-a" / "state" / "site.log").read_text()
    only_scored = Site(tmp_path / "evaluate", small, synthetic=False, role="evaluate")
    approve(small, tmp_path / "evaluate" / "hospital-a" / "state")
    assert _reply(only_scored.ask(messages.PREPARE, params=False)).error is None
    generated = Site(tmp_path / "generated", small)
    assert _reply(generated.ask(messages.PREPARE, params=False)).error is None


def test_a_hospital_that_has_not_agreed_does_nothing_and_says_so_by_a_code(tmp_path: Path) -> None:
    study = make_study(federation={"quorum": 3})
    site = Site(tmp_path, study, synthetic=False)
    state = tmp_path / "hospital-a" / "state"
    assert _reply(site.ask(messages.PREPARE, params=False)).error == Reason.CONSENT_MISSING
    assert _reply(site.ask(messages.TRAIN)).error == Reason.CONSENT_MISSING
    approve(study, state)
    assert _reply(site.ask(messages.PREPARE, params=False)).error is None
    approve(study.model_copy(update={"seed": study.seed + 1}), state)
    assert _reply(site.ask(messages.TRAIN)).error == Reason.CONSENT_CHANGED
    assert f"seed: {study.seed + 1} -> {study.seed}" in (state / "site.log").read_text()


@pytest.mark.parametrize("meta", [None, {}])
def test_a_trained_model_is_not_given_out_as_it_is(site: Site, tmp_path: Path, meta: dict[str, Any] | None) -> None:
    """FLARE's workflows between sites ask for `submit_model`, with no order of ours."""
    site.ask(messages.TRAIN)
    answer = site.ask("submit_model", params=False, meta=meta)
    assert _reply(answer) == Reply(error=Reason.SITE_FAILED)
    assert not FLModelUtils.from_shareable(answer).params
    log = (tmp_path / "hospital-a" / "state" / "site.log").read_text()
    assert "task 'submit_model' is unknown; known: prepare, train, validate" in log


def test_an_evaluating_hospital_refuses_to_train(tmp_path: Path) -> None:
    site = Site(tmp_path, FEDBN, role="evaluate")
    assert _reply(site.ask(messages.PREPARE, params=False)).manifest.role == "evaluate"
    assert _reply(site.ask(messages.TRAIN)).error == Reason.CONFIGURATION_INVALID


def test_an_evaluating_hospital_has_its_statistics_re_measured(tmp_path: Path) -> None:
    site = Site(tmp_path, FEDBN, role="evaluate")
    assert _reply(site.ask(messages.VALIDATE, model_round=2, split="test")).notes == ["statistics_re_measured"]


@pytest.mark.parametrize("run", ["../../etc", "a/b", "", "..", "a b"])
def test_a_run_name_that_would_leave_the_state_folder_is_refused(site: Site, run: str) -> None:
    order = {**messages.meta(Order(run="x"))[messages.KEY], "run": run}
    assert _reply(site.ask(messages.PREPARE, params=False, meta={messages.KEY: order})).error == Reason.SITE_FAILED


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
    assert _reply(site.ask(messages.VALIDATE, arm="best", split="test")).records


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
    assert len(_reply(site.ask(messages.PREPARE, params=False, round=index)).manifest.statistics) == count


def test_each_answer_is_noted_at_the_site_with_what_was_sent_and_no_words(site: Site, tmp_path: Path) -> None:
    site.ask(messages.PREPARE, params=False)
    sent = _reply(site.ask(messages.TRAIN, round=0))
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


def test_what_the_hospital_does_not_allow_is_refused_with_its_code_alone(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class NoTraining:
        def refusal(self, task: str, now: datetime) -> Refusal | None:
            return Refusal(Reason.NOT_NOW, f"{PATIENT}: not now") if task == messages.TRAIN else None

    monkeypatch.setattr(supervised_tasks, "site_permission", lambda _study, _config: Permission([NoTraining()]))
    assert _reply(site.ask(messages.PREPARE, params=False)).manifest is not None
    result = site.ask(messages.TRAIN)
    assert _reply(result) == Reply(error=Reason.NOT_NOW)
    assert b"patient-0042" not in fobs.dumps(result)
    assert "patient-0042" in (tmp_path / "hospital-a" / "state" / "site.log").read_text()
