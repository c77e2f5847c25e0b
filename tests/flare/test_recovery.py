"""A command that was killed: what it left is ended and fetched before its run goes on."""

import shutil
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from flare.test_server_checkpoint import write
from wardround.flare import recovery
from wardround.flare.marked_processes import MarkedProcesses
from wardround.flare.recovery import recover
from wardround.flare.server_checkpoint import CheckpointWriter, load_server_checkpoint
from wardround.records.launch import Launch, read_launch, write_launch
from wardround.records.reasons import WardroundError
from wardround.records.server_state import FOLDER


def launch(**changes: Any) -> Launch:
    return Launch.model_validate({"environment": "sim", "study": "fake_study", "run": "run", **changes})


def test_a_folder_that_says_nothing_has_nothing_to_recover(tmp_path: Path) -> None:
    assert recover(tmp_path) is None


def test_a_run_that_still_goes_on_is_left_alone(tmp_path: Path) -> None:
    own = psutil.Process()
    write_launch(tmp_path, launch(process=own.pid, process_started=own.create_time()))
    with pytest.raises(WardroundError, match=f"still goes on, in process {own.pid}"):
        recover(tmp_path)
    write_launch(tmp_path, launch(process=own.pid, process_started=own.create_time() - 100))  # its id came again
    assert recover(tmp_path) is not None


def test_what_a_killed_command_left_is_ended_fetched_and_removed(tmp_path: Path) -> None:
    workspace, out = tmp_path / "wardround-abc", tmp_path / "out"
    run_folder = workspace / "server" / "job"
    write(CheckpointWriter(run_folder / FOLDER), 2)
    out.mkdir()
    left = MarkedProcesses()
    left.start([sys.executable, "-c", "import time; time.sleep(600)"], tmp_path / "log")
    write_launch(out, launch(mark=left.mark, workspace=workspace, run_folder=run_folder, process=10**7))
    while not left.alive():
        time.sleep(0.05)
    recover(out)
    assert not left.alive()
    assert not workspace.exists()
    assert load_server_checkpoint(out / FOLDER).state.rounds_done == 2
    assert read_launch(out) == launch()


def test_a_copy_of_a_runs_folder_leaves_what_belongs_to_the_original(tmp_path: Path) -> None:
    workspace, out = tmp_path / "wardround-abc", tmp_path / "out"
    workspace.mkdir()
    out.mkdir()
    left = MarkedProcesses()
    left.start([sys.executable, "-c", "import time; time.sleep(600)"], tmp_path / "log")
    write_launch(out, launch(mark=left.mark, workspace=workspace, out=out))
    while not left.alive():
        time.sleep(0.05)
    copy = shutil.copytree(out, tmp_path / "copy")
    try:
        with pytest.raises(WardroundError, match=rf"copy: a copy of {out}, .* processes still work; .*resume {out}`"):
            recover(copy)
        assert left.alive()
        assert workspace.is_dir()
    finally:
        left.end_all()
    with pytest.raises(WardroundError, match="its last rounds are not fetched yet"):
        recover(copy)
    moved = out.rename(tmp_path / "moved")
    assert recover(moved) is not None
    assert not workspace.exists()
    assert recover(copy) is not None


def test_no_folder_but_ours_is_removed(tmp_path: Path) -> None:
    mine = tmp_path / "home"
    mine.mkdir()
    write_launch(tmp_path, launch(workspace=mine))
    recover(tmp_path)
    assert mine.is_dir()


@pytest.mark.parametrize(
    ("status", "running", "told"),
    [("FINISHED:ABORTED", False, None), ("RUNNING", True, "job j1 is RUNNING on the server"), ("RUNNING", False, None)],
)
def test_a_job_that_has_ended_is_fetched_and_one_that_runs_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: str, running: bool, told: str | None
) -> None:
    class Session:
        def close(self) -> None:
            closed.append(True)

    closed: list[bool] = []
    monkeypatch.setattr(recovery, "open_session", lambda _kit, **_options: Session())
    monkeypatch.setattr(recovery, "fetch_ended", lambda _session, _job, _out: status)
    monkeypatch.setattr(recovery, "works", lambda _session, _job: running)
    write_launch(tmp_path, launch(environment="prod", job="j1"))
    if told:
        with pytest.raises(WardroundError, match=told):
            recover(tmp_path, tmp_path / "kit")
    else:
        recover(tmp_path, tmp_path / "kit")
    assert closed == [True]
