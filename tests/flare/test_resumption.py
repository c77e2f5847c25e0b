"""A run whose server was lost, and a new job that goes on with it."""

import errno
from pathlib import Path
from typing import Any

import pytest
from nvflare.app_common.abstract.fl_model import FLModel

from support.fake_workload import FakeWorkload
from support.loopback import SITES, Federation, Tamper, quick_study, use_fake_workload
from wardround.flare import messages
from wardround.flare.server_checkpoint import CheckpointWriter, load_server_checkpoint
from wardround.learners.checkpoint import load_checkpoint
from wardround.records import files
from wardround.records.reasons import Reason
from wardround.records.run_lines import ResumeLine, RoundLine, RunLine, StartLine
from wardround.records.server_state import FOLDER
from wardround.records.study import Study


class ServerLostError(BaseException):
    """Stands for a kill: nothing in the controller handles it."""


def lost_in(round_index: int, task: str = messages.TRAIN) -> Tamper:
    """The server is gone once the second site has answered a round's task."""

    def tamper(site: str, name: str, answer: FLModel) -> FLModel:
        order = answer.meta[messages.KEY]
        assert order is not None
        if name == task and site == "hospital-b" and seen.count(site) == round_index:
            raise ServerLostError
        if name == task:
            seen.append(site)
        return answer

    seen: list[str] = []
    return tamper


def lost(folder: Path, study: Study, tamper: Tamper, sites: dict[str, dict[str, Any]] = SITES) -> Federation:
    run = Federation(folder, study, sites, tamper=tamper)
    with pytest.raises(ServerLostError):
        run.run()
    return run


def fedbn(**changes: Any) -> Study:
    return quick_study(algorithm={"kind": "fedbn"}, training__rounds=4, **changes)


def told(lines: list[RunLine]) -> list[str]:
    """Each line without what the clock says."""
    volatile = {"seconds", "time"}
    found = []
    for line in lines:
        content = line.model_dump(mode="json")
        for site in content.get("sites", {}) if isinstance(line, RoundLine) else {}:
            content["sites"][site]["report"].pop("seconds")
        found.append(str({key: value for key, value in content.items() if key not in volatile}))
    return found


@pytest.mark.parametrize(("kind", "round_index"), [("fedavg", 1), ("fedbn", 0), ("fedbn", 1), ("fedbn", 3)])
def test_a_run_that_goes_on_ends_as_one_that_was_never_lost(tmp_path: Path, kind: str, round_index: int) -> None:
    study = quick_study(algorithm={"kind": kind}, training__rounds=4)
    whole = Federation(tmp_path / "whole", study, SITES).run()
    first = lost(tmp_path / "first", study, lost_in(round_index))
    second = Federation(tmp_path / "second", study, SITES, goes_on_from=first).run()
    resumed = [line for line in second.lines if isinstance(line, ResumeLine)]
    assert [(line.round, line.because) for line in resumed] == [(round_index, "stopped")]
    assert second.end.status == "complete"
    assert second.end.weights_sha256 == whole.end.weights_sha256
    assert second.end.best_round == whole.end.best_round
    best = [load_checkpoint(run.run_folder / "models" / "best").card.weights_sha256 for run in (whole, second)]
    assert best[0] == best[1]
    assert told([line for line in second.lines if not isinstance(line, ResumeLine)]) == told(whole.lines)
    assert all({"sites", "aggregate"} <= set(line.seconds) for line in second.rounds)


def test_a_round_in_which_the_job_is_aborted_is_repeated(tmp_path: Path) -> None:
    whole = Federation(tmp_path / "whole", fedbn(), SITES).run()

    def abort(site: str, name: str, answer: FLModel) -> FLModel | None:
        if name == messages.TRAIN and first.controller.current_round == 2 and site == "hospital-b":
            first.controller.abort_signal.trigger(True)
        return None if first.controller.abort_signal.triggered else answer

    first = Federation(tmp_path / "first", fedbn(), SITES)
    first.controller.tamper = abort
    first.run()
    assert len(first.rounds) == 2
    second = Federation(tmp_path / "second", fedbn(), SITES, goes_on_from=first).run()
    assert [line.round for line in second.lines if isinstance(line, ResumeLine)] == [2]
    assert (second.end.status, second.end.reasons) == ("complete", [])
    assert second.end.weights_sha256 == whole.end.weights_sha256


def test_a_run_lost_while_it_was_scored_is_only_scored_again(tmp_path: Path) -> None:
    whole = Federation(tmp_path / "whole", fedbn(), SITES).run()
    first = lost(tmp_path / "first", fedbn(), lost_in(1, messages.VALIDATE))
    second = Federation(tmp_path / "second", fedbn(), SITES, goes_on_from=first).run()
    assert messages.TRAIN not in {task for _, task, _ in second.controller.sent}
    assert second.end.weights_sha256 == whole.end.weights_sha256
    assert told(second.scores) == told(whole.scores)


def test_a_run_can_go_on_twice(tmp_path: Path) -> None:
    whole = Federation(tmp_path / "whole", fedbn(), SITES).run()
    first = lost(tmp_path / "first", fedbn(), lost_in(1))
    second = Federation(tmp_path / "second", fedbn(), SITES, goes_on_from=first, tamper=lost_in(2))
    with pytest.raises(ServerLostError):
        second.run()
    second.folder = first.folder  # where the sites' state is
    third = Federation(tmp_path / "third", fedbn(), SITES, goes_on_from=second).run()
    assert [line.round for line in third.lines if isinstance(line, ResumeLine)] == [1, 3]
    assert third.end.weights_sha256 == whole.end.weights_sha256


def test_sums_for_the_initial_model_are_not_sent_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_fake_workload(monkeypatch, lambda _study: FakeWorkload(scaled=True))
    whole = Federation(tmp_path / "whole", quick_study(), SITES).run()
    first = lost(tmp_path / "first", quick_study(), lost_in(0))
    second = Federation(tmp_path / "second", quick_study(), SITES, goes_on_from=first).run()
    sums = [[bool(site.statistics) for site in line.sites] for line in second.lines if isinstance(line, ResumeLine)]
    assert sums == [[False, False, False]]
    assert second.end.weights_sha256 == whole.end.weights_sha256


def test_a_run_can_go_on_without_a_site_and_with_a_smaller_quorum(tmp_path: Path) -> None:
    study = fedbn(federation={"quorum": 3, "round_deadline_seconds": 1, "grace_period_seconds": 0})
    first = lost(tmp_path / "first", study, lost_in(2))
    best_before = load_server_checkpoint(first.run_folder / FOLDER).state.best_round
    smaller = study.model_copy(update={"federation": study.federation.model_copy(update={"quorum": 2})})
    second = Federation(tmp_path / "second", smaller, SITES, goes_on_from=first, left_out=["hospital-c"]).run()
    (line,) = (line for line in second.lines if isinstance(line, ResumeLine))
    assert line.left_out == ["hospital-c"]
    assert line.changed == {"federation.quorum": (3, 2)}
    assert [each.contributed for each in second.rounds[2:]] == [["hospital-a", "hospital-b"]] * 2
    assert second.end.status == "partial"
    assert "hospital-c: left_out" in second.end.reasons
    assert second.end.best_round is not None
    assert second.end.best_round in (best_before, 2, 3, 4)


def test_other_settings_of_the_study_are_refused_with_the_difference(tmp_path: Path) -> None:
    first = lost(tmp_path / "first", fedbn(), lost_in(1))
    second = Federation(tmp_path / "second", fedbn(seed=4), SITES, goes_on_from=first).run()
    assert second.end.status == "failed"
    assert "seed: 0 in the run, 4 now" in second.end.reasons[0]
    assert second.controller.sent == []


def test_a_site_with_other_data_than_before_is_named(tmp_path: Path) -> None:
    first = lost(tmp_path / "first", fedbn(), lost_in(1))
    sites = {**SITES, "hospital-b": {**SITES["hospital-b"], "cases": 5}}
    second = Federation(tmp_path / "second", fedbn(), sites, goes_on_from=first).run()
    assert second.end.status == "partial"
    assert second.end.reasons == ["hospital-b: data_changed"]


def test_a_site_that_is_missing_when_the_run_goes_on_may_come_back(tmp_path: Path) -> None:
    first = lost(tmp_path / "first", fedbn(), lost_in(1))
    present = {name: SITES[name] for name in ("hospital-a", "hospital-c")}
    second = Federation(tmp_path / "second", fedbn(), present, expected=list(SITES), goes_on_from=first).run()
    assert second.end.reasons[0] == "hospital-b: absent"
    assert second.end.best_round == load_server_checkpoint(first.run_folder / FOLDER).state.best_round
    assert isinstance(second.lines[0], StartLine)


def test_a_full_disk_costs_a_checkpoint_and_not_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Federation(tmp_path / "whole", fedbn(), SITES).run()
    kept: dict[int, int] = {}
    run = Federation(tmp_path / "run", fedbn(), SITES)

    def fsync(descriptor: int) -> None:
        index = getattr(run.controller, "current_round", 0)
        file = Path(f"/proc/self/fd/{descriptor}").readlink()
        if index in (1, 2) and file.is_relative_to(run.run_folder):  # the sites' disks are others
            raise OSError(errno.ENOSPC, "No space left on device")

    def tamper(site: str, name: str, answer: FLModel) -> FLModel:
        if name != messages.PREPARE:
            done = 4 if name == messages.VALIDATE else run.controller.current_round
            kept[done] = load_server_checkpoint(run.run_folder / FOLDER).state.rounds_done
        return answer

    monkeypatch.setattr(files.os, "fsync", fsync)
    run.controller.tamper = tamper
    run.run()
    alarm = [str(Reason.CHECKPOINT_NOT_WRITTEN)]
    assert [line.alarms for line in run.rounds] == [[], alarm, alarm, []]
    assert kept == {0: 0, 1: 1, 2: 1, 3: 1, 4: 4}  # the one before the disk was full stays good
    assert not (run.run_folder / FOLDER).exists()  # a run that is complete has nothing to go on with
    assert run.end.weights_sha256 == whole.end.weights_sha256


def test_a_run_goes_on_from_a_checkpoint_older_than_what_sites_have_committed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk was full for two rounds, and then the server was lost: sites know of rounds that the server forgot."""
    whole = Federation(tmp_path / "whole", fedbn(), SITES).run()
    first = Federation(tmp_path / "first", fedbn(), SITES, tamper=lost_in(3))
    write = CheckpointWriter.write

    def full(writer: CheckpointWriter, *args: Any, rounds_done: int, **files: Any) -> None:
        if rounds_done > 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(writer, *args, rounds_done=rounds_done, **files)

    with monkeypatch.context() as patch:
        patch.setattr(CheckpointWriter, "write", full)
        with pytest.raises(ServerLostError):
            first.run()
    kept = {file.name for file in (tmp_path / "first" / "hospital-a" / "state" / "run" / "kept").glob("kept-*")}
    assert "kept-000003.safetensors" in kept
    second = Federation(tmp_path / "second", fedbn(), SITES, goes_on_from=first).run()
    assert [line.round for line in second.lines if isinstance(line, ResumeLine)] == [1]
    assert second.end.status == "complete"
    assert second.end.weights_sha256 == whole.end.weights_sha256
