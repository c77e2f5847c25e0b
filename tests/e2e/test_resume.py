"""Runs that lose their server, their command or their disk, and go on: to the same weights, bit for bit."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from e2e.conftest import left_over
from support.interrupted import (
    SETTINGS,
    after_round,
    answered,
    end_of,
    interrupted_study,
    rounds_of,
    simulators_server,
)
from support.provisioned import ROOT
from wardround.flare.environments import run_study
from wardround.flare.server_checkpoint import load_server_checkpoint
from wardround.learners.checkpoint import load_checkpoint
from wardround.records.reasons import Reason, WardroundError
from wardround.records.run_lines import ResumeLine, RunLine, read_lines
from wardround.records.server_state import FOLDER
from wardround.site.config import load_site_config
from wardround.workloads.clinical_risk.synth.writer import write_hospitals

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("sites")
    write_hospitals(folder, rows=200, seed=2)
    return sorted(folder.glob("*/site.yaml"))


def run(sites: list[Path], out: Path, on_line: object = lambda _line: None) -> None:
    study = interrupted_study()
    run_study(ROOT / "jobs", study, environment="sim", sites=sites, out=out, on_line=on_line)  # type: ignore[arg-type]


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "wardround.cli.main", *arguments]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT / "custom"), "COLUMNS": "120"}


def resume(out: Path) -> str:
    done = subprocess.run(
        command("resume", str(out)), env=environment(), capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def whole(sites: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run that nothing happened to."""
    out = tmp_path_factory.mktemp("whole")
    run(sites, out)
    assert end_of(out).status == "complete"
    assert not (out / FOLDER).exists()  # there is nothing to go on with
    return out


def assert_same(out: Path, whole: Path) -> None:
    end, expected = end_of(out), end_of(whole)
    assert (end.status, end.reasons) == ("complete", [])
    assert end.weights_sha256 == expected.weights_sha256
    assert end.best_round == expected.best_round
    for name in ("best", "last"):
        one, other = (load_checkpoint(folder / "models" / name).card.weights_sha256 for folder in (out, whole))
        assert one == other
    assert [line.round for line in rounds_of(out)] == [0, 1, 2, 3]
    assert left_over() == []


def test_a_servers_process_that_is_killed_ends_the_command_and_the_run_goes_on(
    sites: list[Path], whole: Path, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    killed: list[float] = []

    def kill() -> None:
        simulators_server(tmp_path).kill()
        killed.append(time.monotonic())

    with pytest.raises(WardroundError) as caught:
        run(sites, tmp_path, after_round(2, kill))
    record_property("seconds_to_the_commands_end", round(time.monotonic() - killed[0], 1))
    assert caught.value.code is Reason.FLARE_FAILED
    assert "its server process was ended by somebody, or by the system where memory was short" in str(caught.value)
    assert left_over() == []
    assert len(rounds_of(tmp_path)) == 2
    began = time.monotonic()
    said = resume(tmp_path)
    record_property("seconds_of_the_resumed_run", round(time.monotonic() - began, 1))
    assert "goes on with round 3 of 4" in said
    assert_same(tmp_path, whole)
    (line,) = (line for line in read_lines(tmp_path / "run.jsonl") if isinstance(line, ResumeLine))
    assert (line.round, line.because) == (2, "it was stopped")
    assert "Resumed at round 3" in (tmp_path / "report.html").read_text()
    refused = subprocess.run(command("resume", str(tmp_path)), env=environment(), capture_output=True, check=False)
    assert refused.returncode == 2
    assert b"this run is complete" in refused.stderr


def test_a_command_that_is_killed_leaves_what_its_run_goes_on_from(
    sites: list[Path], whole: Path, tmp_path: Path
) -> None:
    settings = [part for setting in SETTINGS for part in ("--set", setting)]
    study = str(ROOT / "jobs" / "clinical_risk")
    arguments = ["run", study, "--sites", str(sites[0].parents[1]), "--out", str(tmp_path), *settings]
    with (tmp_path.parent / "output").open("wb") as stream:
        process = subprocess.Popen(command(*arguments), env=environment(), stdout=stream, stderr=stream)
        while not ((tmp_path / "run.jsonl").is_file() and len(rounds_of(tmp_path)) >= 1):
            assert process.poll() is None
            time.sleep(0.1)
        simulators_server(tmp_path).suspend()  # else it may come to the run's end by itself
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert left_over()  # FLARE's processes do not know yet
    resume(tmp_path)
    assert_same(tmp_path, whole)


def test_a_full_disk_at_the_server_costs_checkpoints_and_not_the_run(
    sites: list[Path], whole: Path, tmp_path: Path
) -> None:
    """Every file that the server writes is cut off at 4 KiB, as on a disk that is full."""
    state_folder = load_site_config(sites[0]).state_folder
    kept: list[int] = []

    def write_again(server: psutil.Process, before: tuple[int, int]) -> None:
        while not answered(state_folder, 2):
            time.sleep(0.05)
        kept.append(load_server_checkpoint(tmp_path / FOLDER).state.rounds_done)
        server.rlimit(psutil.RLIMIT_FSIZE, before)

    def fill() -> None:
        server = simulators_server(tmp_path)
        before = server.rlimit(psutil.RLIMIT_FSIZE)
        server.rlimit(psutil.RLIMIT_FSIZE, (4096, before[1]))
        watch.append(threading.Thread(target=write_again, args=(server, before)))
        watch[0].start()

    watch: list[threading.Thread] = []
    for answers in state_folder.glob("*/answers.jsonl"):
        answers.unlink()  # of the runs before
    heard: list[RunLine] = []
    begin = after_round(1, fill)

    def on_line(line: RunLine) -> None:
        heard.append(line)
        begin(line)

    run(sites, tmp_path, on_line)
    watch[0].join()
    assert kept == [1]  # the one from before stays good
    alarms = [line.alarms for line in rounds_of(tmp_path)]
    assert alarms[0] == []
    assert alarms[1] == [Reason.CHECKPOINT_NOT_WRITTEN]
    assert heard == read_lines(tmp_path / "run.jsonl")  # lines that could not be written came later
    assert_same(tmp_path, whole)
