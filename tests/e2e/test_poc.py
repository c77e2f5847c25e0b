"""One FLARE POC system: an exported job submitted by FLARE's own command, then a study through a session."""

import contextlib
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.conftest import left_over, tiny_study
from wardround.flare.environments import export_job, run_study
from wardround.flare.poc import PocSystem
from wardround.flare.session import open_session
from wardround.flare.workspace import workspace
from wardround.records.reasons import WardroundError
from wardround.records.run_lines import EndLine, RoundLine, RunLine, StartLine, read_lines
from wardround.site.config import load_site_config

pytestmark = pytest.mark.e2e

ONE_ROUND = {"rounds": 1, "local_steps": 2, "learning_rate": 0.01}


@pytest.fixture(scope="module")
def system(hospitals: list[Path]) -> Iterator[PocSystem]:
    configs = [load_site_config(file) for file in hospitals]
    with socket.socket() as busy, workspace() as folder:
        with contextlib.suppress(OSError):  # FLARE's default port is busy (F26), if not with us then with another
            busy.bind(("127.0.0.1", 8002))
        system = PocSystem(folder / "system", folder / "flare.log")
        try:
            system.prepare(configs)
            system.prepare(configs)  # twice is as good as once (F26)
            system.start()
            yield system
        finally:
            system.stop()
        assert left_over() == []
        system.stop()


def test_an_exported_job_runs_when_flares_own_command_submits_it(system: PocSystem, tmp_path: Path) -> None:
    job = export_job(Path("study"), tiny_study(name="exported", training=ONE_ROUND), tmp_path / "jobs")
    submit = [sys.executable, "-m", "nvflare.cli", "job", "submit", "-j", str(job), "--format", "json"]
    answer = subprocess.run(submit, env=system.environment, capture_output=True, text=True, check=True, timeout=60)
    job_id = json.loads(answer.stdout)["data"]["job_id"]
    session = open_session(system.kit)
    try:
        deadline = time.monotonic() + 180
        while not (status := session.get_job_status(job_id)).startswith("FINISHED"):
            assert time.monotonic() < deadline, status
            time.sleep(1)
        assert status == "FINISHED:COMPLETED"
        result = Path(session.download_job_result(job_id, str(tmp_path / "result")))
    finally:
        session.close()
    lines = read_lines(result / "workspace" / "metrics" / "run.jsonl")
    assert isinstance(lines[-1], EndLine)
    assert lines[-1].status == "complete"


def test_a_study_goes_through_a_session_as_in_production(system: PocSystem, tmp_path: Path) -> None:
    study = tiny_study(training=ONE_ROUND, federation={"quorum": 3, "prepare_deadline_seconds": 300})
    heard: list[RunLine] = []
    record = run_study(
        Path("study"), study, environment="prod", sites=[], out=tmp_path / "out", on_line=heard.append, kit=system.kit
    )
    assert heard == read_lines(record)
    start = heard[0]
    assert isinstance(start, StartLine)
    assert start.environment == "prod"
    assert [site.site for site in start.sites] == ["hospital-a", "hospital-b", "hospital-c", "hospital-d"]
    assert [line.contributed for line in heard if isinstance(line, RoundLine)] == [
        ["hospital-a", "hospital-b", "hospital-c"]
    ]
    assert isinstance(heard[-1], EndLine)
    assert heard[-1].status == "complete"
    assert (tmp_path / "out" / "models" / "best.safetensors").is_file()
    assert (tmp_path / "out" / "flare" / "cross_val_results.json").is_file()


def test_a_path_with_a_space_is_refused_by_name_f26(tmp_path: Path) -> None:
    with pytest.raises(WardroundError, match="cannot run POC in a path with a space"):
        PocSystem(tmp_path / "a folder", tmp_path / "log")
