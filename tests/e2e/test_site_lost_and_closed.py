"""One run in FLARE's simulator in which a hospital's worker is killed in mid round and another is outside its hours."""

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psutil
import pytest
import yaml

from e2e.conftest import left_over
from support.by_hand import assert_weights_by_hand
from support.command_lines import command_line
from support.small_risk import risk_study
from wardround.flare.environments import run_study
from wardround.records.run_lines import EndLine, RoundLine, RunLine, StartLine, read_lines
from wardround.records.study import Study
from wardround.site.answers import read_runs
from wardround.site.config import load_site_config
from wardround.site.windows import DAYS
from wardround.workloads.clinical_risk.synth.writer import write_hospitals

pytestmark = pytest.mark.e2e

EVERYONE = ["hospital-a", "hospital-b", "hospital-c", "hospital-d"]
KILLED, CLOSED = "hospital-b", "hospital-c"
ROUNDS = 8  # more than a busy machine trains between the first one's end and its being told


@dataclass
class Run:
    study: Study
    files: list[Path]
    out: Path
    lines: list[RunLine]
    seconds_to_the_round: float  # from the kill until the record has the round that it was in

    def of(self, kind: type) -> list:
        return [line for line in self.lines if isinstance(line, kind)]

    @property
    def lost_in(self) -> int:
        """The round in which the worker was killed."""
        return next(line.round for line in self.of(RoundLine) if KILLED in line.failed)


def _study() -> Study:
    study = risk_study(rounds=ROUNDS)
    changes = {"grace_period_seconds": 300, "round_deadline_seconds": 600}  # a busy machine's new worker is not late
    federation = study.federation.model_copy(update=changes)
    evaluation = study.evaluation.model_copy(update={"personalise_steps": 0, "recalibrate": False})
    return study.model_copy(update={"federation": federation, "evaluation": evaluation})


def _hospitals(folder: Path) -> list[Path]:
    """Four that train; the third only on a day of the week that is days away."""
    files = write_hospitals(folder, hospitals=4, rows=150, seed=2)
    for file in files:
        settings = {**yaml.safe_load(file.read_text()), "role": "train", "threads": 1}
        if settings["name"] == CLOSED:
            day = DAYS[(datetime.now(UTC) + timedelta(days=3)).weekday()]
            settings["training_windows"] = {"time_zone": "UTC", "weekly": [{"days": [day]}]}
        file.write_text(yaml.safe_dump(settings, sort_keys=False))
    return files


def _trained(file: Path) -> int:
    runs = read_runs(load_site_config(file).state_folder)
    return len(runs[0].trained) if runs else 0


def _kill_in_mid_round(files: list[Path]) -> float:
    """Stops the worker, so that it cannot answer, and kills it once another hospital has answered that round."""
    found = [process for process in left_over() if _is_the_worker(command_line(process))]
    worker = min(found, key=psutil.Process.create_time)  # a child has its parent's command until it runs its own
    worker.suspend()
    deadline = time.monotonic() + 120
    while _trained(files[0]) <= _trained(files[1]):
        assert time.monotonic() < deadline, "it was stopped after its last round"
        time.sleep(0.05)
    worker.kill()
    return time.monotonic()


def _is_the_worker(command: list[str]) -> bool:
    return command[-2:-1] == [KILLED] and "worker_process" in command[-3]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("lost")
    files, study = _hospitals(folder / "sites"), _study()
    killed: list[Future[float]] = []
    known: list[float] = []

    def on_line(line: RunLine) -> None:
        if isinstance(line, RoundLine) and line.round == 0:
            killed.append(killer.submit(_kill_in_mid_round, files))
        if isinstance(line, RoundLine) and KILLED in line.failed:
            known.append(time.monotonic())

    with ThreadPoolExecutor(1) as killer:
        record = run_study(
            Path("study"), study, environment="sim", sites=files, out=folder / "out", on_line=on_line, run_name="lost"
        )
    killed_at = killed[0].result()  # raises what the killer met
    return Run(study, files, folder / "out", read_lines(record), known[0] - killed_at)


def test_the_round_goes_on_without_the_hospital_whose_worker_was_killed_and_names_it(
    run: Run, record_property: Callable[[str, object], None]
) -> None:
    record_property("seconds_to_the_rounds_end", round(run.seconds_to_the_round, 1))
    lost = run.of(RoundLine)[run.lost_in]
    assert lost.failed == {KILLED: "worker_died", CLOSED: "not_now"}
    assert lost.contributed == ["hospital-a", "hospital-d"]
    assert not lost.late


def test_it_contributes_again_from_the_next_round_on(run: Run) -> None:
    assert 0 < run.lost_in < ROUNDS - 1
    for line in run.of(RoundLine):
        if line.round != run.lost_in:
            assert line.contributed == ["hospital-a", KILLED, "hospital-d"]


def test_the_hospital_outside_its_hours_is_enrolled_and_says_so_in_every_round(run: Run) -> None:
    assert [site.site for site in run.of(StartLine)[0].sites] == EVERYONE
    assert {line.failed[CLOSED] for line in run.of(RoundLine)} == {"not_now"}
    (end,) = run.of(EndLine)
    assert end.status == "partial"
    assert f"{CLOSED}: never_contributed" in end.reasons
    assert not [reason for reason in end.reasons if KILLED in reason]


def test_the_hospitals_own_admins_are_told(run: Run) -> None:
    log = (load_site_config(run.files[1]).state_folder / "site.log").read_text()
    assert "the worker process ended with signal SIGKILL" in log
    log = (load_site_config(run.files[2]).state_folder / "site.log").read_text()
    assert "outside the site's training windows; open again" in log


def test_the_weights_are_those_of_the_same_participation_without_a_death(run: Run, tmp_path: Path) -> None:
    assert_weights_by_hand(run.study, run.files, run.of(RoundLine), run.out / "models" / "last", tmp_path)


def test_no_process_is_left(run: Run) -> None:
    assert run.lines
    assert left_over() == []
