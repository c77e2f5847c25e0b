"""A site's whole job process is killed in mid round, in a system of real processes: FLARE fails the job, the run ends
with the site's name, and goes on without it, to the weights of such a run in which nothing went wrong."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from e2e.conftest import left_over
from support.by_hand import assert_weights_by_hand, with_one_thread
from support.command_lines import command_line
from support.provisioned import ROOT
from wardround.cli.main import app
from wardround.flare.environments import run_study
from wardround.flare.marked_processes import MarkedProcesses
from wardround.records.launch import read_launch
from wardround.records.reasons import Reason, WardroundError
from wardround.records.run_lines import EndLine, ResumeLine, RoundLine, RunLine, read_lines
from wardround.records.study import load_study
from wardround.workloads.clinical_risk.synth.writer import write_hospitals

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1800)]

SETTINGS = (
    "training.rounds=30",
    "training.local_epochs=20",
    "evaluation.personalise_steps=0",
    "evaluation.recalibrate=false",
    "federation.quorum=2",
)


def _kill_job_process(out: Path, site: str) -> None:
    """Of this run alone: its processes carry its mark."""
    launch = read_launch(out)
    assert launch is not None
    for process in MarkedProcesses(mark=launch.mark).alive():
        command = command_line(process)
        if "nvflare.private.fed.app.client.worker_process" in command and any(f"/{site}" in part for part in command):
            process.kill()
            return
    raise AssertionError(f"{site} has no job process")


def test_the_run_ends_with_the_sites_name_and_goes_on_without_it(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    sites = with_one_thread(write_hospitals(tmp_path / "sites", hospitals=3, rows=150, seed=2))
    study, out = load_study(ROOT / "jobs" / "clinical_risk", SETTINGS), tmp_path / "out"
    killed: list[float] = []

    def kill(line: RunLine) -> None:
        if isinstance(line, RoundLine) and not killed:
            killed.append(time.monotonic())
            _kill_job_process(out, "hospital-b")

    with pytest.raises(WardroundError) as caught:
        run_study(Path("study"), study, environment="poc", sites=sites, out=out, on_line=kill)
    record_property("seconds_to_the_end", round(time.monotonic() - killed[0]))
    assert caught.value.code is Reason.FLARE_FAILED
    assert "the job's process at hospital-b failed or was ended" in str(caught.value)
    assert left_over() == []
    done_before = [line.round for line in read_lines(out / "run.jsonl") if isinstance(line, RoundLine)]
    assert 0 < len(done_before) < 30

    resumed = CliRunner().invoke(app, ["resume", str(out), "--without", "hospital-b"])
    assert resumed.exit_code == 3, resumed.output  # partial
    lines = read_lines(out / "run.jsonl")
    (line,) = (line for line in lines if isinstance(line, ResumeLine))
    assert line.left_out == ["hospital-b"]
    rounds = [each for each in lines if isinstance(each, RoundLine)]
    assert [each.round for each in rounds] == [*range(30)]
    assert {tuple(each.contributed) for each in rounds[line.round :]} == {("hospital-a", "hospital-c")}
    (end,) = (each for each in lines if isinstance(each, EndLine))
    assert end.status == "partial"
    assert "hospital-b: left_out" in end.reasons
    assert_weights_by_hand(study, sites, rounds, out / "models" / "last", tmp_path / "by hand")
    assert left_over() == []
