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
from wardround.flare.login import open_session
from wardround.flare.poc import PocSystem
from wardround.flare.workspace import workspace
from wardround.records.reasons import WardroundError
from wardround.records.run_lines import EndLine, RoundLine, RunLine, StartLine, read_lines
from wardround.site.config import load_site_config

pytestmark = pytest.mark.e2e

STUDY = tiny_study(
    training={"rounds": 1, "local_steps": 2, "learning_rate": 0.01},
    federation={"quorum": 3, "round_deadline_seconds": 300, "prepare_deadline_seconds": 300},
)


@pytest.fixture(scope="module")
def system(hospitals: list[Path]) -> Iterator[PocSystem]:
    configs = [load_site_config(file) for file in hospitals]
    with socket.socket() as busy, workspace() as folder:
        with contextlib.suppress(OSError):  # FLARE's default port is busy, if not with us then with another
            busy.bind(("127.0.0.1", 8002))
        system = PocSystem(folder / "system", folder / "flare.log")
        try:
            system.prepare(configs)
            system.prepare(configs)  # twice is as good as once
            system.start()
            yield system
        finally:
            system.stop()
        assert left_over() == []
        system.stop()


@pytest.fixture(scope="module")
def exported(system: PocSystem, tmp_path_factory: pytest.TempPathFactory) -> EndLine:
    """How an exported job ended that FLARE's own command submitted."""
    folder = tmp_path_factory.mktemp("exported")
    job = export_job(Path("study"), STUDY, folder / "jobs")
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
        result = Path(session.download_job_result(job_id, str(folder / "result")))
    finally:
        session.close()
    end = read_lines(result / "workspace" / "metrics" / "run.jsonl")[-1]
    assert isinstance(end, EndLine)
    return end


def test_an_exported_job_runs_when_flares_own_command_submits_it(exported: EndLine) -> None:
    assert exported.status == "complete"
    assert exported.reasons == []


def test_a_study_goes_through_a_session_as_in_production(system: PocSystem, exported: EndLine, tmp_path: Path) -> None:
    heard: list[RunLine] = []
    record = run_study(
        Path("study"), STUDY, environment="prod", sites=[], out=tmp_path / "out", on_line=heard.append, kit=system.kit
    )
    assert heard == read_lines(record)
    start, end = heard[0], heard[-1]
    assert isinstance(start, StartLine)
    assert start.environment == "prod"
    assert [site.site for site in start.sites] == ["hospital-a", "hospital-b", "hospital-c", "hospital-d"]
    assert [line.contributed for line in heard if isinstance(line, RoundLine)] == [
        ["hospital-a", "hospital-b", "hospital-c"]
    ]
    assert isinstance(end, EndLine)
    assert end.status == "complete"
    assert end.weights_sha256 == exported.weights_sha256  # the same study and seed, in another job
    assert (tmp_path / "out" / "models" / "best.safetensors").is_file()
    assert (tmp_path / "out" / "flare" / "cross_val_results.json").is_file()


def test_a_run_that_fails_is_told_in_one_line(system: PocSystem, tmp_path: Path) -> None:
    study = STUDY.model_copy(update={"federation": STUDY.federation.model_copy(update={"quorum": 4})})
    with pytest.raises(WardroundError) as caught:
        run_study(
            Path("study"), study, environment="prod", sites=[], out=tmp_path, on_line=lambda _: None, kit=system.kit
        )
    assert str(caught.value) == "prepare: 3 training sites, federation.quorum is 4 (none failed)"


def test_a_path_with_a_space_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(WardroundError, match="cannot run POC in a path with a space"):
        PocSystem(tmp_path / "a folder", tmp_path / "log")
