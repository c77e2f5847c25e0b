"""A look at a released model that a hospital shared comes with its answer to `prepare`, or not at all."""

from pathlib import Path
from typing import Any

import pytest
from nvflare.app_common.abstract.fl_model import FLModel

from support.looks import a_look
from support.loopback import SITES, Federation, quick_study, use_fake_workload
from wardround.flare import messages
from wardround.records.run_lines import JoinLine, ResumeLine
from wardround.records.shared_monitoring import SharedMonitoring
from wardround.records.update import SiteManifest
from wardround.site.shared_look import keep_look, look_file

STUDY = "fake_study"
TOLD = a_look(STUDY, criteria=[{"metric": "brier", "met": False}])
OTHER_FIGURE = [{"metric": "auroc", "met": True}]


@pytest.fixture(autouse=True)
def _fake_workload(monkeypatch: pytest.MonkeyPatch) -> None:
    use_fake_workload(monkeypatch)


def _keep(folder: Path, site: str, look: SharedMonitoring) -> None:
    keep_look(folder / site / "state", look)


def _looks(sites: list[SiteManifest]) -> dict[str, SharedMonitoring | None]:
    return {site.site: site.monitoring for site in sites}


def test_only_what_a_hospital_shared_and_its_rules_still_let_leave_is_in_the_record(tmp_path: Path) -> None:
    _keep(tmp_path, "hospital-a", a_look(STUDY))
    _keep(tmp_path, "hospital-b", a_look(STUDY, patients=2))  # disclosure.minimum_patients is 3
    run = Federation(tmp_path, quick_study(), SITES).run()
    assert run.end.status == "complete"
    assert _looks(run.start.sites) == {"hospital-a": TOLD, "hospital-b": None, "hospital-c": None}


@pytest.mark.parametrize(
    "forged",
    [
        {"study": "another_study"},
        {"criteria": OTHER_FIGURE},
        {"patients": -1},
        {"patients": float("nan")},
        {"cases": "many"},
        {"version": "/data/patient-0042"},
        {"date": "Jane Doe, born 1950"},
        {"inputs": {"age": 1}},
        {"inputs": {"large": float("inf")}},
        {"column": "age"},
    ],
)
def test_a_look_that_is_none_at_this_study_is_no_answer_and_the_others_go_on(
    tmp_path: Path, forged: dict[str, Any]
) -> None:
    def tamper(site: str, task: str, answer: FLModel) -> FLModel:
        if (site, task) == ("hospital-c", messages.PREPARE):
            answer.meta[messages.KEY]["manifest"]["monitoring"] |= forged
        return answer

    for site in SITES:
        _keep(tmp_path, site, a_look(STUDY))
    run = Federation(tmp_path, quick_study(), SITES, tamper=tamper).run()
    assert _looks(run.start.sites) == {"hospital-a": TOLD, "hospital-b": TOLD}
    assert run.start.missing == ["hospital-c"]
    assert "hospital-c: reply_invalid" in run.end.reasons


def test_a_hospital_that_joins_late_tells_its_look_then(tmp_path: Path) -> None:
    asked = []

    def tamper(site: str, task: str, answer: FLModel) -> FLModel | None:
        if site == "hospital-c" and task == messages.PREPARE:
            asked.append(site)
            return None if len(asked) == 1 else answer
        return answer

    _keep(tmp_path, "hospital-c", a_look(STUDY))
    study = quick_study(
        federation={"quorum": 2, "round_deadline_seconds": 1, "grace_period_seconds": 0, "prepare_deadline_seconds": 1}
    )
    run = Federation(tmp_path, study, SITES, tamper=tamper).run()
    (join,) = [line for line in run.lines if isinstance(line, JoinLine)]
    assert join.manifest.monitoring == TOLD


def test_a_run_that_goes_on_asks_again_and_what_was_taken_back_is_not_sent(tmp_path: Path) -> None:
    def stopped(site: str, task: str, answer: FLModel) -> FLModel:
        if task == messages.TRAIN and first.controller.current_round == 1:
            first.controller.abort_signal.trigger("stopped")
        return answer

    _keep(tmp_path / "first", "hospital-a", a_look(STUDY))
    first = Federation(tmp_path / "first", quick_study(), SITES, tamper=stopped)
    first.run()
    look_file(tmp_path / "first" / "hospital-a" / "state", STUDY).unlink()
    _keep(tmp_path / "first", "hospital-b", a_look(STUDY))
    second = Federation(tmp_path / "second", quick_study(), SITES, goes_on_from=first).run()
    (resumed,) = [line for line in second.lines if isinstance(line, ResumeLine)]
    assert _looks(second.start.sites)["hospital-a"] == TOLD
    assert _looks(resumed.sites) == {"hospital-a": None, "hospital-b": TOLD, "hospital-c": None}
