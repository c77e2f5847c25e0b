"""Small runs on generated tables that are stopped in the middle, by real signals to FLARE's processes."""

import time
from collections.abc import Callable
from pathlib import Path

import psutil

from support.command_lines import command_line
from support.provisioned import ROOT
from wardround.flare.marked_processes import MarkedProcesses
from wardround.records.launch import read_launch
from wardround.records.run_lines import EndLine, RoundLine, RunLine, read_lines
from wardround.records.study import Study, load_study
from wardround.site.answers import read_runs

SETTINGS = (
    "algorithm.kind=fedbn",  # whose sites keep entries of their own from round to round
    "workload.network.norm=batch",
    "training.rounds=4",
    "training.local_epochs=30",  # a second or two a round: long enough to be killed in
    "evaluation.personalise_steps=0",
    "evaluation.recalibrate=false",
    "federation.prepare_deadline_seconds=300",
)


def interrupted_study() -> Study:
    """FedBN over four rounds."""
    return load_study(ROOT / "jobs" / "clinical_risk", SETTINGS)


def end_of(out: Path) -> EndLine:
    """How a run ended; differences between arms may follow in its record."""
    (end,) = (line for line in read_lines(out / "run.jsonl") if isinstance(line, EndLine))
    return end


def rounds_of(out: Path) -> list[RoundLine]:
    """Its rounds."""
    return [line for line in read_lines(out / "run.jsonl") if isinstance(line, RoundLine)]


def simulators_server(out: Path) -> psutil.Process:
    """The process in which the simulator's server runs: the one that started the sites'."""
    launch = read_launch(out)
    assert launch is not None
    for process in MarkedProcesses(mark=launch.mark).alive():
        if any("simulator_worker" in part for part in command_line(process)):
            server = process.parent()
            assert server is not None
            return server
    raise AssertionError("no site runs")


def after_round(number: int, then: Callable[[], None]) -> Callable[[RunLine], None]:
    """Does something while the round after `number` is trained."""

    def on_line(line: RunLine) -> None:
        if isinstance(line, RoundLine) and line.round + 1 == number:
            time.sleep(0.3)
            then()

    return on_line


def answered(state_folder: Path, round_index: int) -> bool:
    """Whether a site has answered a round's training."""
    return any(
        (answer.task, answer.round) == ("train", round_index)
        for run in read_runs(state_folder)
        for answer in run.answers
    )
