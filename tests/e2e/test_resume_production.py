"""A job on a running FLARE system that is aborted, and one whose server dies: both go on under another job id."""

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from typer.testing import CliRunner

from e2e.conftest import left_over
from support.command_lines import command_line
from support.interrupted import after_round, end_of, interrupted_study, rounds_of
from support.provisioned import ROOT
from wardround.cli.main import app
from wardround.flare.environments import run_study
from wardround.flare.marked_processes import MarkedProcesses
from wardround.flare.poc import PocSystem
from wardround.flare.workspace import workspace
from wardround.records.launch import read_launch
from wardround.records.reasons import WardroundError
from wardround.records.run_lines import EndLine, ResumeLine, RunLine, read_lines
from wardround.records.server_state import FOLDER
from wardround.site.config import load_site_config
from wardround.workloads.clinical_risk.synth.writer import write_hospitals

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PocSystem]:
    sites = tmp_path_factory.mktemp("sites")
    write_hospitals(sites, rows=200, seed=2)
    configs = [load_site_config(file) for file in sorted(sites.glob("*/site.yaml"))]
    with workspace() as folder:
        system = PocSystem(folder / "system", folder / "flare.log")
        try:
            system.prepare(configs)
            system.start()
            yield system
        finally:
            system.stop()
        assert left_over() == []


def run(system: PocSystem, out: Path, on_line: Callable[[RunLine], None] = lambda _line: None) -> None:
    study = interrupted_study()
    run_study(ROOT / "jobs", study, environment="prod", sites=[], out=out, on_line=on_line, kit=system.kit)


@pytest.fixture(scope="module")
def whole(system: PocSystem, tmp_path_factory: pytest.TempPathFactory) -> EndLine:
    """How the run ended that nothing happened to."""
    out = tmp_path_factory.mktemp("whole")
    run(system, out)
    return end_of(out)


def resume(out: Path, *arguments: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, ["resume", str(out), *arguments])
    assert done.exit_code == code, done.output[-4000:]
    return done.output


def job_of(out: Path) -> str:
    launch = read_launch(out)
    assert launch is not None
    assert launch.job is not None
    return launch.job


def _is_the_servers(process: psutil.Process) -> bool:
    command = " ".join(command_line(process))
    return "app.server.server_train" in command or "app.server.runner_process" in command


def assert_same(out: Path, whole: EndLine) -> None:
    end = end_of(out)
    assert (end.status, end.reasons) == ("complete", [])
    assert end.weights_sha256 == whole.weights_sha256
    assert [line.round for line in rounds_of(out)] == [0, 1, 2, 3]
    assert len([line for line in read_lines(out / "run.jsonl") if isinstance(line, ResumeLine)]) == 1


def test_an_aborted_job_goes_on_from_its_result(system: PocSystem, whole: EndLine, tmp_path: Path) -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(system, tmp_path, after_round(2, stop))
    first = job_of(tmp_path)
    resume(tmp_path)  # with the kit that the run had; fetches the job's result where that was too slow to come
    assert job_of(tmp_path) != first
    assert_same(tmp_path, whole)


def test_a_run_whose_server_died_goes_on_from_a_copy_of_the_jobs_folder(
    system: PocSystem, whole: EndLine, tmp_path: Path
) -> None:
    """Server and job are killed at once, as by a crash; FLARE's start script starts the server again."""

    def crash() -> None:
        found = [process for process in MarkedProcesses(mark=system.mark).alive() if _is_the_servers(process)]
        assert len(found) >= 2
        for process in found:
            process.send_signal(signal.SIGKILL)

    with pytest.raises(WardroundError, match=r"lists job .* as running and does not run it"):
        run(system, tmp_path, after_round(2, crash))
    job = job_of(tmp_path)
    assert not (tmp_path / FOLDER).exists()
    said = resume(tmp_path, code=2)
    assert f"name with --checkpoint a copy of the job's folder at the server, {job}" in said
    resume(tmp_path, "--checkpoint", str(system.run_folder(job)))
    assert_same(tmp_path, whole)
