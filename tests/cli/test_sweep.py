"""`--sweep`: a grid over validation scores."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from typer.testing import CliRunner

import wardround
from support.made_run import ROUNDS, TRAINING, regions, whole_run
from support.played import play
from wardround.cli.main import app
from wardround.cli.sweep import best_trial, plan, validation_scores
from wardround.records.reasons import WardroundError
from wardround.records.run_lines import EndLine, RunLine, ScoreLine
from wardround.records.study import Study, load_study
from wardround.reporting.summary import summarise


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("fedavg", ["fedavg", "fedprox"]),
        ("fedprox", ["fedavg", "fedprox"]),
        ("fedbn", ["fedbn", "fedprox_fedbn"]),
        ("fedprox_fedbn", ["fedbn", "fedprox_fedbn"]),
    ],
)
def test_mu_decides_whether_there_is_a_proximal_term(study_folder: Path, kind: str, expected: list[str]) -> None:
    mu = ("algorithm.mu=0.1",) if "fedprox" in kind else ()
    trials = plan(load_study(study_folder, (f"algorithm.kind={kind}", *mu)), ["algorithm.mu=0,0.003"])
    assert [trial.study.algorithm.kind for trial in trials] == expected
    assert [trial.study.algorithm.mu for trial in trials] == [0, 0.003]
    changed = [trial.study.algorithm.kind != kind for trial in trials]
    assert ["runs as" in trial.remark for trial in trials] == changed


@pytest.mark.parametrize("mu", ["-1", ".inf", "much"])
def test_bad_value_is_refused_before_anything_runs(study_folder: Path, mu: str) -> None:
    with pytest.raises(WardroundError, match="mu"):
        plan(load_study(study_folder), [f"algorithm.mu=0.1,{mu}"])


@pytest.mark.parametrize("sweep", ["algorithm.mu", "algorithm.mu=", "=1,2", "seed=1,1"])
def test_malformed_sweep_is_refused(study_folder: Path, sweep: str) -> None:
    with pytest.raises(WardroundError, match="--sweep"):
        plan(load_study(study_folder), [sweep])


def test_grid_is_the_product_and_leaves_fine_tuning_out(study_folder: Path) -> None:
    trials = plan(load_study(study_folder), ["algorithm.kind=fedavg,fedbn", "training.learning_rate=0.1,0.01"])
    assert len({trial.name for trial in trials}) == 4
    assert {trial.study.evaluation.personalise_steps for trial in trials} == {0}


def test_scores_are_validation_at_the_best_round_never_test() -> None:
    scores = validation_scores(summarise(whole_run()), "dice_mean")
    expected = {site: 0.5 + 0.08 * 3 + 0.01 * index - 0.06 for index, site in enumerate(TRAINING)}
    assert scores == pytest.approx(expected)


# `wardround run --sweep` with a federation that starts a process of its own, as FLARE does, and waits for it
_SWEEP = """
import sys
from pathlib import Path
from wardround.cli.main import app
from wardround.flare import environments
from wardround.flare.marked_processes import MarkedProcesses

def run_study(folder, study, *, out, **_):
    children = MarkedProcesses()
    try:
        child = children.start([sys.executable, "-c", "import time; time.sleep(300)"], out / "flare.log")
        Path("child").write_text(str(child.pid))
        child.wait()
    finally:
        children.end_all()

environments.run_study = run_study
app(sys.argv[1:])
"""


def test_a_request_to_terminate_a_sweep_leaves_no_process(study_folder: Path, sites_folder: Path) -> None:
    arguments = ["run", str(study_folder), "--sites", str(sites_folder), "--out", "out", "--sweep", "seed=1,2"]
    environment = {**os.environ, "PYTHONPATH": str(Path(wardround.__file__).parents[1])}
    with Path("output").open("w") as output:
        command = [sys.executable, "-c", _SWEEP, *arguments]
        sweep = subprocess.Popen(command, stdout=output, stderr=output, env=environment)
    child = Path("child")
    try:
        give_up = time.monotonic() + 120
        while not (child.is_file() and child.read_text()) and sweep.poll() is None and time.monotonic() < give_up:
            time.sleep(0.05)
        sweep.send_signal(signal.SIGTERM)
        code = sweep.wait(60)
        left = psutil.pid_exists(int(child.read_text())) if child.is_file() else None
    finally:
        sweep.kill()
        sweep.wait()
        if child.is_file() and psutil.pid_exists(int(child.read_text())):
            os.kill(int(child.read_text()), signal.SIGKILL)
    assert (code, left) == (130, False), Path("output").read_text()
    assert "Stopped in trial 1 of 2" in Path("output").read_text()


def test_sweep_writes_each_trial_and_names_the_best(
    monkeypatch: pytest.MonkeyPatch, study_folder: Path, sites_folder: Path
) -> None:
    def record(study: Study) -> list[RunLine]:
        reached = 0.7 - abs(study.algorithm.mu - 0.003) * 10
        lines = []
        for line in whole_run():
            if isinstance(line, ScoreLine) and line.split == "validation":
                lines.append(line.model_copy(update={"records": regions(reached)}))
            elif isinstance(line, EndLine):
                lines.append(line.model_copy(update={"best_round": ROUNDS}))
            else:
                lines.append(line)
        return lines

    play(monkeypatch, record)
    arguments = ["--sites", str(sites_folder), "--out", "out", "--sweep", "algorithm.mu=0,0.003,0.01"]
    done = CliRunner().invoke(app, ["run", str(study_folder), *arguments])
    assert done.exit_code == 0, done.output
    content = json.loads(Path("out/sweep.json").read_text())
    assert content["best"] == "algorithm.mu=0.003"
    assert [trial["mean"] for trial in content["trials"]] == pytest.approx([0.61, 0.64, 0.57])
    assert "mu 0.003 runs as fedprox" in done.output
    assert "validation: " in done.output
    assert ", test: " not in done.output  # a setting is chosen on validation cases
    assert len(list(Path("out").glob("*/report.html"))) == 3


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--set", "evaluation.key_metric=auroc"), "auroc"),
        (("--set", "federation.quorum=9"), "federation.quorum"),
        (("--sweep", "evaluation.key_metric=dice_mean,auroc"), "auroc"),
        (("--env", "prod"), "--kit"),
    ],
)
def test_what_does_not_fit_is_told_before_the_first_trial(
    monkeypatch: pytest.MonkeyPatch,
    study_folder: Path,
    sites_folder: Path,
    arguments: tuple[str, ...],
    named: str,
) -> None:
    calls = play(monkeypatch, whole_run())
    fixed = ["run", str(study_folder), "--sites", str(sites_folder), "--out", "out", "--sweep", "seed=1,2"]
    done = CliRunner().invoke(app, [*fixed, *arguments])
    assert done.exit_code == 2
    assert named in done.output
    assert "trial" not in done.output
    assert calls == []
    assert not Path("out").exists()


@pytest.mark.parametrize(("mode", "best"), [("max", "high"), ("min", "low")])
def test_the_best_trial_is_the_lowest_where_less_is_better(mode: str, best: str) -> None:
    rows = [{"folder": "low", "mean": 0.1}, {"folder": "high", "mean": 0.3}, {"folder": "incomplete", "mean": None}]
    assert best_trial(rows, mode) == best
