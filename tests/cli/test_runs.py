"""`wardround runs`: every run of the machine, however it ended, and what differs between two."""

import json
import sys
import time
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from support.looks import a_look
from support.made_release import key_pair, run_folder, run_lines
from support.made_run import VALUES
from support.played import play
from wardround.cli.main import app
from wardround.flare.marked_processes import MarkedProcesses
from wardround.records.launch import Launch, write_launch
from wardround.records.metric_record import Status
from wardround.records.reasons import Reason, WardroundError


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["runs", *arguments])


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two finished runs and a broken one."""
    monkeypatch.chdir(tmp_path)
    run_folder(Path("results/brain_tumor/first"))
    lines = run_lines({"worst_site": {"dice_mean": 0.7}}, run="20260102-120000")
    start = lines[0]
    study = {**start.study, "seed": 1, "algorithm": {"kind": "fedbn", "mu": 0.0}}
    sites = [site for site in start.sites if site.site != "hospital-d"]
    lines[0] = start.model_copy(update={"study": study, "sites": sites, "versions": {"torch": "2.9.0"}})
    lines = [line for line in lines if getattr(line, "site", "") != "hospital-d"]
    run_folder(Path("results/other/deeper/second"), lines)
    earlier = Path("results/brain_tumor/first/before-resume-1")
    earlier.mkdir()
    (earlier / "run.jsonl").write_text(Path("results/brain_tumor/first/run.jsonl").read_text())
    broken = Path("results/brain_tumor/broken")
    broken.mkdir()
    (broken / "run.jsonl").write_text("{}\n")
    return Path("results")


def test_a_look_at_a_released_model_that_a_hospital_shared_is_told(results: Path) -> None:
    assert "Released model" not in invoke("show", "brain_tumor/first").output
    start, *rest = run_lines()
    look = a_look("brain_tumor", criteria=[{"metric": "dice_mean", "met": False}])
    sites = [start.sites[0].model_copy(update={"monitoring": look}), *start.sites[1:]]
    run_folder(results / "brain_tumor" / "third", [start.model_copy(update={"sites": sites}), *rest])
    told = invoke("show", "brain_tumor/third").output
    assert "Released model at hospital-a: v2 on 53 cases of 40 patients, 2030-01-31; no longer met: Dice, mean" in told


def test_every_run_is_listed_with_its_key_figure_and_release(results: Path, tmp_path: Path) -> None:
    key = str(key_pair(tmp_path)[0])
    done = CliRunner().invoke(app, ["release", "brain_tumor/first", "--approver", "Ada", "--key", key])
    assert done.exit_code == 0, done.output
    rows = {row["run"]: row for row in json.loads(invoke("list", "--format", "json").output)}
    assert list(rows) == ["brain_tumor/broken", "brain_tumor/first", "other/deeper/second"]
    first = rows["brain_tumor/first"]
    mean = sum(value - 0.06 for value in VALUES["best"][:3]) / 3
    assert first["key_value"] == pytest.approx(mean)
    assert (first["study"], first["environment"], first["status"]) == ("brain_tumor", "sim", "complete")
    assert (first["rounds_done"], first["rounds"], first["scored"], first["sites"]) == (4, 4, 3, 3)
    assert first["releases"] == ["v1 (current)"]
    assert rows["brain_tumor/broken"]["status"] == "unreadable"
    assert "run.jsonl, line 1" in rows["brain_tumor/broken"]["reasons"][0]
    told = invoke("list").output
    assert "dice_mean 0.803" in told
    assert "v1 (current)" in told


def test_a_mean_over_fewer_sites_says_so(tmp_path: Path) -> None:
    from support.made_run import without_value

    lines = without_value(run_lines(), "best", "hospital-b", "dice_mean", Status.UNDEFINED, "no_case_with_region")
    run_folder(tmp_path / "results" / "run", lines)
    told = invoke("list", "--results", str(tmp_path / "results")).output
    assert "(2 of 3)" in told


def test_a_folder_without_runs_is_said(tmp_path: Path) -> None:
    assert "no run in" in invoke("list", "--results", str(tmp_path)).output
    assert json.loads(invoke("list", "--results", str(tmp_path), "--format", "json").output) == []


def test_one_run_is_shown_with_what_made_it_its_figures_and_its_criteria(results: Path) -> None:
    done = invoke("show", "brain_tumor/first")
    assert done.exit_code == 0, done.output
    for text in (
        *(
            "4 of 4; best 3, last 4",
            "SHA-256 " + run_lines()[0].study_digest,
            "torch 2.13.0",
            "seed 0",
            "models/best.safetensors",
        ),
        *("hospital-d   evaluate", "0.680 (0.650 to 0.710)", "at every site: at least 0.600: met"),
        "against each site's own model: worse by at most 0.150: met",
    ):
        assert text in done.output
    told = json.loads(invoke("show", "results/brain_tumor/first", "--format", "json").output)
    assert told["acceptance"]["met"] is True
    assert told["manifest"]["models"]["best"]["model_round"] == 3
    assert {row["site"] for row in told["figures"] if row["arm"] == "best"} == {
        "hospital-a",
        "hospital-b",
        "hospital-c",
        "hospital-d",
    }


def test_two_runs_differ_in_settings_versions_sites_and_figures(results: Path) -> None:
    done = invoke("diff", "brain_tumor/first", "other/deeper/second", "--format", "json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.output)
    settings = {change["key"]: (change["first"], change["second"]) for change in found["settings"]}
    assert settings["seed"] == (0, 1)
    assert settings["algorithm.kind"] == ("fedavg", "fedbn")
    assert settings["acceptance.worst_site.dice_mean"] == (0.6, 0.7)
    assert "training.rounds" not in settings
    assert found["versions"] == [{"key": "torch", "first": "2.13.0", "second": "2.9.0"}]
    assert {change["key"] for change in found["sites"]} >= {"hospital-d.role", "hospital-d.counts.test_cases"}
    assert all(change["second"] is None for change in found["sites"])
    figures = {(row["site"], row["metric"]): row for row in found["figures"]}
    assert figures["hospital-a", "dice_mean"]["difference"] == 0.0
    assert figures["hospital-d", "dice_mean"]["difference"] is None
    told = invoke("diff", "brain_tumor/first", "other/deeper/second").output
    assert "algorithm.kind" in told
    assert "not paired by case" in told


def test_a_difference_has_its_sign(results: Path, tmp_path: Path) -> None:
    from wardround.records.run_lines import ScoreLine

    lines = [
        line.model_copy(
            update={"records": [r.model_copy(update={"value": r.value - 0.1, "interval": None}) for r in line.records]}
        )
        if isinstance(line, ScoreLine) and (line.arm, line.site, line.split) == ("best", "hospital-a", "test")
        else line
        for line in run_lines()
    ]
    run_folder(tmp_path / "third", lines)
    found = json.loads(invoke("diff", "brain_tumor/first", str(tmp_path / "third"), "--format", "json").output)
    changed = {row["site"]: row["difference"] for row in found["figures"] if row["metric"] == "dice_mean"}
    assert changed == {"hospital-a": pytest.approx(-0.1), "hospital-b": 0.0, "hospital-c": 0.0, "hospital-d": 0.0}
    told = invoke("diff", "brain_tumor/first", str(tmp_path / "third")).output
    assert "\N{MINUS SIGN}0.100" in told


def test_a_run_that_does_not_exist_is_told(results: Path) -> None:
    done = invoke("show", "nothing")
    assert done.exit_code == 2
    assert "no run's folder" in done.output


def test_a_run_that_failed_before_it_began_is_listed_and_shown(
    monkeypatch: pytest.MonkeyPatch, study_folder: Path, sites_folder: Path
) -> None:
    play(monkeypatch, [], WardroundError(Reason.QUORUM_NOT_MET, "prepare: 1 of 3 sites"))
    arguments = ["run", str(study_folder), "--sites", str(sites_folder), "--out", "results/failed"]
    assert CliRunner().invoke(app, arguments).exit_code == 1
    (row,) = json.loads(invoke("list", "--format", "json").output)
    assert (row["status"], row["reasons"], row["key_value"]) == ("failed", ["quorum_not_met"], None)
    shown = invoke("show", "failed")
    assert shown.exit_code == 0, shown.output
    assert "brain_tumor, sim, failed" in shown.output


def test_a_record_that_was_cut_is_shown_as_it_is_whatever_its_manifest_says(results: Path) -> None:
    record = results / "brain_tumor/first/run.jsonl"
    lines = record.read_text().splitlines(keepends=True)
    record.write_text("".join(lines[:3]))
    shown = invoke("show", "brain_tumor/first").output
    assert "brain_tumor, sim, stopped" in shown
    assert "manifest.json is of another state of run.jsonl" in shown
    assert "2 of 4" in shown


def test_a_run_whose_command_was_killed_and_that_goes_on_is_no_stopped_one(results: Path, tmp_path: Path) -> None:
    folder = run_folder(results / "killed", run_lines()[:3])
    left = MarkedProcesses()
    left.start([sys.executable, "-c", "import time; time.sleep(600)"], tmp_path / "log")
    try:
        while not left.alive():
            time.sleep(0.05)
        write_launch(folder, Launch(environment="sim", study="brain_tumor", run="r", mark=left.mark, out=folder))
        rows = {row["run"]: row for row in json.loads(invoke("list", "--format", "json").output)}
        assert rows["killed"]["status"] == "running"
        assert "running" in invoke("list").output
        assert "`wardround resume results/killed` takes it up" in invoke("show", "killed").output
    finally:
        left.end_all()
    assert "brain_tumor, sim, stopped" in invoke("show", "killed").output
