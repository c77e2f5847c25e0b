"""Sites that answer late, or join a run that has begun."""

import time
from pathlib import Path
from typing import Any

import pytest
from nvflare.app_common.abstract.fl_model import FLModel
from nvflare.app_common.utils.fl_model_utils import FLModelUtils

from support.loopback import SITES, Federation, quick_study
from wardround.flare import messages
from wardround.records.run_lines import JoinLine


def test_a_late_site_is_named_and_does_not_hold_up_the_round(tmp_path: Path) -> None:
    def tamper(site: str, task: str, answer: FLModel) -> FLModel | None:
        return None if site == "hospital-c" and task == messages.TRAIN else answer

    run = Federation(tmp_path, quick_study(), SITES, tamper=tamper).run()
    assert [line.late for line in run.rounds] == [["hospital-c"]] * 3
    assert run.controller.cancelled == 3
    assert run.end.status == "partial"
    assert "hospital-c: never_contributed" in run.end.reasons


def test_a_site_that_never_joins_makes_the_run_partial(tmp_path: Path) -> None:
    run = Federation(tmp_path, quick_study(), SITES, expected=[*SITES, "hospital-z"]).run()
    assert run.start.missing == ["hospital-z"]
    assert run.end.status == "partial"
    assert run.end.reasons == ["hospital-z: absent"]


def test_a_site_that_is_ready_late_joins_a_later_round(tmp_path: Path) -> None:
    prepared = []

    def tamper(site: str, task: str, answer: FLModel) -> FLModel | None:
        if site == "hospital-c" and task == messages.PREPARE:
            prepared.append(site)
            return None if len(prepared) == 1 else answer
        return answer

    study = quick_study(
        federation={"quorum": 2, "round_deadline_seconds": 2, "grace_period_seconds": 1, "prepare_deadline_seconds": 1}
    )
    run = Federation(tmp_path, study, SITES, tamper=tamper).run()
    assert run.start.missing == ["hospital-c"]
    assert [(line.round, line.manifest.site) for line in run.lines if isinstance(line, JoinLine)] == [(1, "hospital-c")]
    assert [line.contributed for line in run.rounds] == [["hospital-a", "hospital-b"], sorted(SITES), sorted(SITES)]
    assert run.end.status == "partial"
    assert run.end.reasons == ["hospital-c: late", "hospital-c: joined in round 2"]
    asked = [result for site, task, result in run.controller.sent if (site, task) == ("hospital-c", messages.PREPARE)]
    sums = [FLModelUtils.from_shareable(one).meta[messages.KEY]["manifest"]["statistics"] for one in asked]
    assert [len(one) for one in sums] == [1, 0]  # the initial model was made before it was asked again
    assert {line.site for line in run.scores if line.arm == "best"} == set(SITES)


def test_a_latecomer_that_does_not_fit_is_named_once_and_not_asked_again(tmp_path: Path) -> None:
    def tamper(site: str, task: str, answer: FLModel) -> FLModel | None:
        if site == "hospital-c" and task == messages.PREPARE:
            if not asked:
                asked.append(site)
                return None
            asked.append(site)
            answer.meta[messages.KEY]["manifest"]["study_digest"] = "f" * 64
        return answer

    asked: list[str] = []
    settings = {"quorum": 2, "round_deadline_seconds": 1, "prepare_deadline_seconds": 1, "grace_period_seconds": 0}
    study = quick_study(federation=settings, training={"rounds": 4, "local_steps": 2, "learning_rate": 0.05})
    run = Federation(tmp_path, study, SITES, tamper=tamper)
    monotonic = time.monotonic
    with pytest.MonkeyPatch.context() as patch:  # each look at the clock is a minute later: no invitation is open
        patch.setattr("wardround.flare.latecomers.time", _Clock(monotonic))
        run.run()
    assert asked == ["hospital-c"] * 2
    assert sum("its study has the hash" in reason for reason in run.end.reasons) == 1
    assert run.end.status == "partial"


@pytest.mark.parametrize(("failing", "times"), [({"contract": "other"}, 2), ({"seed": "none"}, 5)])
def test_a_latecomer_that_cannot_prepare_is_named_and_asked_again_unless_its_contract_differs(
    tmp_path: Path, failing: dict[str, Any], times: int
) -> None:
    def tamper(site: str, task: str, answer: FLModel) -> FLModel | None:
        if site == "hospital-c" and task == messages.PREPARE:
            asked.append(site)
            return None if len(asked) == 1 else answer
        return answer

    asked: list[str] = []
    settings = {"quorum": 2, "round_deadline_seconds": 1, "prepare_deadline_seconds": 1, "grace_period_seconds": 0}
    study = quick_study(federation=settings, training={"rounds": 4, "local_steps": 2, "learning_rate": 0.05})
    run = Federation(tmp_path, study, {**SITES, "hospital-c": failing}, tamper=tamper)
    monotonic = time.monotonic
    with pytest.MonkeyPatch.context() as patch:  # each look at the clock is a minute later: no invitation is open
        patch.setattr("wardround.flare.latecomers.time", _Clock(monotonic))
        run.run()
    assert len(asked) == times
    reason = "contract_mismatch" if "contract" in failing else "site_failed"
    assert run.end.reasons == ["hospital-c: late", f"hospital-c: {reason}"]
    assert run.end.status == "partial"


class _Clock:
    def __init__(self, monotonic: Any) -> None:
        self._monotonic, self._looks = monotonic, 0

    def monotonic(self) -> float:
        self._looks += 1
        return self._monotonic() + 60 * self._looks
