"""What a site refuses or cannot do: a code leaves, and the words stay."""

import logging
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import torch
from nvflare.app_common.utils.fl_model_utils import FLModelUtils
from nvflare.fuel.utils import fobs

from support.asked_site import FEDBN, PATIENT, Site, reply_of
from support.consents import approve
from support.fake_workload import make_study
from wardround.flare import messages
from wardround.learners.learner import Learner
from wardround.records.orders import Order, Reply
from wardround.records.reasons import Reason, WardroundError
from wardround.site import supervised_tasks
from wardround.site.permission import Permission
from wardround.site.refusal import Refusal


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path, FEDBN)


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
    assert reply_of(result).error == code
    assert b"patient-0042" not in fobs.dumps(result)
    assert "patient-0042" not in caplog.text  # what reaches the root logger, FLARE can stream
    assert "patient-0042" in (tmp_path / "hospital-a" / "state" / "site.log").read_text()
    assert not logging.getLogger("wardround").propagate


def test_a_missing_site_yaml_is_a_code_too(site: Site, tmp_path: Path) -> None:
    (tmp_path / "hospital-a" / "local" / "site.yaml").unlink()
    assert reply_of(site.ask(messages.PREPARE, params=False)).error == Reason.CONFIGURATION_INVALID
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
    assert reply_of(result).error == Reason.SITE_FAILED
    assert b"patient-0042" not in fobs.dumps(result)
    assert "patient-0042" not in caplog.text
    assert "patient-0042" in (tmp_path / "hospital-a" / "job" / "site.log").read_text()


def test_without_any_place_for_a_log_the_task_is_done_and_nothing_is_said(
    site: Site, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(PATIENT)

    monkeypatch.setattr(logging, "FileHandler", type("Refused", (logging.FileHandler,), {"__init__": refuse}))
    assert reply_of(site.ask(messages.PREPARE, params=False)).manifest is not None
    monkeypatch.setattr(Learner, "train", refuse)
    assert reply_of(site.ask(messages.TRAIN)).error == Reason.SITE_FAILED
    captured = capfd.readouterr()
    assert "patient-0042" not in captured.out + captured.err + caplog.text


def test_another_sites_yaml_is_refused(site: Site, tmp_path: Path) -> None:
    file = tmp_path / "hospital-a" / "local" / "site.yaml"
    file.write_text(file.read_text().replace("name: hospital-a", "name: hospital-b"))
    assert reply_of(site.ask(messages.PREPARE, params=False)).error == Reason.CONFIGURATION_INVALID


def test_a_hospital_with_patients_data_refuses_a_quorum_below_three_itself(tmp_path: Path) -> None:
    small = make_study(federation={"quorum": 2})
    site = Site(tmp_path / "train", small, synthetic=False)
    approve(small, tmp_path / "train" / "hospital-a" / "state")
    assert reply_of(site.ask(messages.PREPARE, params=False)).error == Reason.QUORUM_TOO_SMALL
    assert reply_of(site.ask(messages.TRAIN)).error == Reason.QUORUM_TOO_SMALL  # a server may leave prepare out
    assert "set 3 or more" in (tmp_path / "train" / "hospital-a" / "state" / "site.log").read_text()
    only_scored = Site(tmp_path / "evaluate", small, synthetic=False, role="evaluate")
    approve(small, tmp_path / "evaluate" / "hospital-a" / "state")
    assert reply_of(only_scored.ask(messages.PREPARE, params=False)).error is None
    generated = Site(tmp_path / "generated", small)
    assert reply_of(generated.ask(messages.PREPARE, params=False)).error is None


def test_a_hospital_that_has_not_agreed_does_nothing_and_says_so_by_a_code(tmp_path: Path) -> None:
    study = make_study(federation={"quorum": 3})
    site = Site(tmp_path, study, synthetic=False)
    state = tmp_path / "hospital-a" / "state"
    assert reply_of(site.ask(messages.PREPARE, params=False)).error == Reason.CONSENT_MISSING
    assert reply_of(site.ask(messages.TRAIN)).error == Reason.CONSENT_MISSING
    approve(study, state)
    assert reply_of(site.ask(messages.PREPARE, params=False)).error is None
    approve(study.model_copy(update={"seed": study.seed + 1}), state)
    assert reply_of(site.ask(messages.TRAIN)).error == Reason.CONSENT_CHANGED
    assert f"seed: {study.seed + 1} -> {study.seed}" in (state / "site.log").read_text()


@pytest.mark.parametrize("meta", [None, {}])
def test_a_trained_model_is_not_given_out_as_it_is(site: Site, tmp_path: Path, meta: dict[str, Any] | None) -> None:
    """FLARE's workflows between sites ask for `submit_model`, with no order of ours."""
    site.ask(messages.TRAIN)
    answer = site.ask("submit_model", params=False, meta=meta)
    assert reply_of(answer) == Reply(error=Reason.SITE_FAILED)
    assert not FLModelUtils.from_shareable(answer).params
    log = (tmp_path / "hospital-a" / "state" / "site.log").read_text()
    assert "task 'submit_model' is unknown; known: prepare, train, validate" in log


def test_an_evaluating_hospital_refuses_to_train(tmp_path: Path) -> None:
    site = Site(tmp_path, FEDBN, role="evaluate")
    assert reply_of(site.ask(messages.PREPARE, params=False)).manifest.role == "evaluate"
    assert reply_of(site.ask(messages.TRAIN)).error == Reason.CONFIGURATION_INVALID


@pytest.mark.parametrize("run", ["../../etc", "a/b", "", "..", "a b"])
def test_a_run_name_that_would_leave_the_state_folder_is_refused(site: Site, run: str) -> None:
    order = {**messages.meta(Order(run="x"))[messages.KEY], "run": run}
    assert reply_of(site.ask(messages.PREPARE, params=False, meta={messages.KEY: order})).error == Reason.SITE_FAILED


def test_what_the_hospital_does_not_allow_is_refused_with_its_code_alone(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class NoTraining:
        def refusal(self, task: str, now: datetime) -> Refusal | None:
            return Refusal(Reason.NOT_NOW, f"{PATIENT}: not now") if task == messages.TRAIN else None

    monkeypatch.setattr(supervised_tasks, "site_permission", lambda _study, _config: Permission([NoTraining()]))
    assert reply_of(site.ask(messages.PREPARE, params=False)).manifest is not None
    result = site.ask(messages.TRAIN)
    assert reply_of(result) == Reply(error=Reason.NOT_NOW)
    assert b"patient-0042" not in fobs.dumps(result)
    assert "patient-0042" in (tmp_path / "hospital-a" / "state" / "site.log").read_text()
