"""`wardround run`: what it prints, writes and returns."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from support.made_run import round_line, start, whole_run
from support.played import play
from wardround.cli.main import app
from wardround.flare import environments
from wardround.records.manifest import read_manifest
from wardround.records.reasons import Reason, WardroundError
from wardround.records.run_lines import DifferenceLine, EndLine, JoinLine, RoundLine, RunLine, read_lines
from wardround.records.study import Study
from wardround.site import baselines, differences


def invoke(study_folder: Path, sites_folder: Path, *arguments: str) -> "Result":
    fixed = ["run", str(study_folder), "--sites", str(sites_folder), "--out", "out"]
    return CliRunner().invoke(app, [*fixed, *arguments])


def test_complete_run_prints_the_table_and_leaves_both_reports(
    monkeypatch: pytest.MonkeyPatch, study_folder: Path, sites_folder: Path
) -> None:
    calls = play(monkeypatch, whole_run())
    done = invoke(study_folder, sites_folder, "--set", "seed=3")
    assert done.exit_code == 0, done.output
    for text in (
        "round 1/4 done; began with hospital-a 0.440  -b 0.450  -c 0.460",
        "hospital-b",
        "0.740",
        "0.803",
        "shows no gain over its own model",
        "out/report.html",
        "out/flare.log",
        "next: wardround runs show out\n",
    ):
        assert text in done.output
    assert json.loads(Path("out/report.json").read_text())["ending"]["status"] == "complete"
    assert "<!doctype html>" in Path("out/report.html").read_text()
    manifest = read_manifest(Path("out"))
    assert (manifest.status, manifest.best_round, manifest.run) == ("complete", 3, "20260101-120000")
    assert calls[0]["study"].seed == 3
    assert [file.parent.name for file in calls[0]["sites"]] == [f"hospital-{name}" for name in "abcd"]


def test_partial_run_exits_3_and_names_the_site(
    monkeypatch: pytest.MonkeyPatch, study_folder: Path, sites_folder: Path
) -> None:
    play(monkeypatch, [*whole_run()[:-1], EndLine(status="partial", reasons=["hospital-b: metrics_missing"])])
    done = invoke(study_folder, sites_folder)
    assert done.exit_code == 3
    assert "hospital-b: returned no metrics" in done.output
    assert "next: wardround runs show out\n" in done.output


@pytest.mark.parametrize(
    ("asked", "told"),
    [(0.9, "; wardround release out --approver NAME --key FILE\n"), (0.01, "\n")],
    ids=["met", "not met"],
)
def test_a_complete_run_that_meets_its_criteria_says_how_it_is_released(
    monkeypatch: pytest.MonkeyPatch, study_folder: Path, sites_folder: Path, asked: float, told: str
) -> None:
    def played(study: Study) -> list[RunLine]:
        begin, *rest = whole_run()
        return [begin.model_copy(update={"study": study.model_dump(mode="json")}), *rest]

    play(monkeypatch, played)
    done = invoke(study_folder, sites_folder, "--set", f"acceptance.worse_than_alone.dice_mean={asked}")
    assert done.exit_code == 0, done.output
    assert f"next: wardround runs show out{told}" in done.output


def test_failed_run_exits_1_with_the_cause_and_what_there_is(
    monkeypatch: pytest.MonkeyPatch, study_folder: Path, sites_folder: Path
) -> None:
    failure = WardroundError(Reason.QUORUM_NOT_MET, "round 2: 1 of 3 contributions")
    play(monkeypatch, [start(), round_line(0), EndLine(status="failed", reasons=["quorum_not_met"])], failure)
    done = invoke(study_folder, sites_folder)
    assert done.exit_code == 1
    assert "round 2: 1 of 3 contributions" in done.output
    assert "Traceback" not in done.output
    manifest = read_manifest(Path("out"))
    assert (manifest.status, manifest.rounds_done, len(manifest.sites)) == ("failed", 1, 4)
    assert Path("out/report.html").is_file()


def test_a_failed_sites_own_words_are_told_on_its_own_machine(
    monkeypatch: pytest.MonkeyPatch, study_folder: Path, sites_folder: Path
) -> None:
    log = sites_folder / "hospital-b" / "state" / "site.log"

    def write(_: Study) -> list[RunLine]:
        log.parent.mkdir(parents=True)
        error = "wardround.records.reasons.WardroundError: stays.csv: no such file"
        trace = f"Traceback (most recent call last):\n  ...\n{error}"
        log.write_text(f"2026-01-01 12:00:00,123 ERROR wardround.flare.executor: prepare failed\n{trace}\n")
        return []

    play(monkeypatch, write, WardroundError(Reason.QUORUM_NOT_MET, "prepare: hospital-b: data_missing"))
    done = invoke(study_folder, sites_folder)
    assert done.exit_code == 1
    assert f"hospital-b: stays.csv: no such file (more in {log})" in done.output


def test_a_site_that_failed_in_a_partial_run_is_told_too(
    monkeypatch: pytest.MonkeyPatch, study_folder: Path, sites_folder: Path
) -> None:
    log = sites_folder / "hospital-b" / "state" / "site.log"

    def write(_: Study) -> list[RunLine]:
        log.parent.mkdir(parents=True)
        log.write_text("2026-01-01 12:00:00,123 ERROR wardround.flare.executor: no space left\n")
        return [*whole_run()[:-1], EndLine(status="partial", reasons=["hospital-b: site_failed"])]

    play(monkeypatch, write)
    done = invoke(study_folder, sites_folder)
    assert done.exit_code == 3
    assert "hospital-b: no space left" in done.output


def test_a_study_with_sites_of_its_own_finds_them(
    monkeypatch: pytest.MonkeyPatch, study_folder: Path, sites_folder: Path
) -> None:
    calls = play(monkeypatch, whole_run())
    Path("site_configs").mkdir()
    sites_folder.rename("site_configs/brain_tumor")
    assert CliRunner().invoke(app, ["run", str(study_folder), "--out", "out"]).exit_code == 0
    assert calls[0]["sites"][0] == Path("site_configs/brain_tumor/hospital-a/site.yaml")


def test_rejected_and_late_sites_are_told_in_their_round(
    monkeypatch: pytest.MonkeyPatch, study_folder: Path, sites_folder: Path
) -> None:
    lines = whole_run()
    lines[1] = round_line(0, rejected={"hospital-b": "not_finite"}, late=["hospital-c"])
    play(monkeypatch, lines)
    done = invoke(study_folder, sites_folder)
    assert "hospital-b rejected: sent a value that is NaN or infinite" in done.output
    assert "hospital-c is late" in done.output


def test_what_stands_out_is_told_in_its_round_and_again_in_the_report(
    monkeypatch: pytest.MonkeyPatch, study_folder: Path, sites_folder: Path
) -> None:
    lines = whole_run()
    lines[2] = round_line(1, alarms=["hospital-c: update_opposed", "hospital-a: key_figure_worse"])
    for site, flag in (("hospital-c", "update_opposed"), ("hospital-a", "key_figure_worse")):
        lines[2].sites[site].flags.append(flag)
    play(monkeypatch, lines)
    done = invoke(study_folder, sites_folder)
    words = "its update pulls against those of the others"
    assert f"hospital-c: {words}" in " ".join(done.output.split())
    assert "hospital-a: the key figure on its validation cases got worse" in " ".join(done.output.split())
    assert words in Path("out/report.html").read_text(encoding="utf-8")
    (told,) = [line for line in read_lines(Path("out/run.jsonl")) if isinstance(line, RoundLine) and line.round == 1]
    assert told.sites["hospital-c"].flags == ["update_opposed"]


def test_a_site_that_joins_late_is_told_and_counted(
    monkeypatch: pytest.MonkeyPatch, study_folder: Path, sites_folder: Path
) -> None:
    lines = whole_run()
    manifest = next(site for site in lines[0].sites if site.site == "hospital-c")
    others = [site for site in lines[0].sites if site is not manifest]
    lines[0] = lines[0].model_copy(update={"sites": others, "missing": ["hospital-c"]})
    play(monkeypatch, [lines[0], JoinLine(round=0, manifest=manifest), *lines[1:]])
    done = invoke(study_folder, sites_folder)
    assert "hospital-c is ready and joins in round 1" in done.output
    assert "did not join" not in done.output


def test_a_folder_with_results_is_never_overwritten(
    monkeypatch: pytest.MonkeyPatch, study_folder: Path, sites_folder: Path
) -> None:
    play(monkeypatch, whole_run())
    Path("out").mkdir()
    Path("out/mine.txt").write_text("keep")
    done = invoke(study_folder, sites_folder)
    assert done.exit_code == 2
    assert "not empty" in done.output
    assert [file.name for file in Path("out").iterdir()] == ["mine.txt"]


def test_a_folder_with_only_the_log_of_a_run_that_never_started_is_used_again(
    monkeypatch: pytest.MonkeyPatch, study_folder: Path, sites_folder: Path
) -> None:
    play(monkeypatch, whole_run())
    Path("out").mkdir()
    Path("out/flare.log").write_text("of before")
    Path("out/manifest.json").write_text("of before")
    assert invoke(study_folder, sites_folder).exit_code == 0
    assert read_manifest(Path("out")).status == "complete"
    assert "of before" not in Path("out/flare.log").read_text()
    assert invoke(study_folder, sites_folder).exit_code == 2  # this one did start


def test_default_results_folder_holds_study_and_time(
    monkeypatch: pytest.MonkeyPatch, study_folder: Path, sites_folder: Path
) -> None:
    play(monkeypatch, whole_run())
    CliRunner().invoke(app, ["run", str(study_folder), "--sites", str(sites_folder)])
    assert len(list(Path("results/brain_tumor").glob("*/report.html"))) == 1


def test_baselines_and_differences_are_added_to_the_record(
    monkeypatch: pytest.MonkeyPatch, study_folder: Path, sites_folder: Path
) -> None:
    made = whole_run()
    own = [line for line in made if line.kind == "baseline_round" or getattr(line, "arm", "").startswith("alone")]
    paired = [line for line in made if isinstance(line, DifferenceLine)]
    play(monkeypatch, [line for line in made if line not in own and line not in paired])
    monkeypatch.setattr(baselines, "run_baselines", lambda *_, on_line, **__: [on_line(line) for line in own])
    monkeypatch.setattr(differences, "differences", lambda *_, **__: iter(paired))
    done = invoke(study_folder, sites_folder, "--baselines")
    assert done.exit_code == 0, done.output
    assert read_lines(Path("out/run.jsonl"))[-len(paired) :] == paired
    assert "\N{MINUS SIGN}0.034 to +0.013" in done.output
    assert "model of" in done.output


def test_what_the_federation_found_is_told_where_a_baseline_fails(
    monkeypatch: pytest.MonkeyPatch, study_folder: Path, sites_folder: Path
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise WardroundError(Reason.DATA_MISSING, "alone:hospital-a: hospital-e: no such file")

    play(monkeypatch, whole_run())
    monkeypatch.setattr(baselines, "run_baselines", fail)
    done = invoke(study_folder, sites_folder, "--baselines")
    assert done.exit_code == 1
    assert "after the federation: alone:hospital-a: hospital-e: no such file" in done.output
    assert Path("out/report.html").is_file()


def test_a_comparison_that_a_site_made_at_home_is_not_made_again(
    monkeypatch: pytest.MonkeyPatch, study_folder: Path, sites_folder: Path
) -> None:
    paired = [line for line in whole_run() if isinstance(line, DifferenceLine)]
    play(monkeypatch, whole_run())
    other = paired[0].model_copy(update={"reference": "last"})
    monkeypatch.setattr(differences, "differences", lambda *_, **__: iter([*paired, other]))
    assert invoke(study_folder, sites_folder).exit_code == 0
    found = [line for line in read_lines(Path("out/run.jsonl")) if isinstance(line, DifferenceLine)]
    assert found == [*paired, other]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--set", "algorithm.kind=fedmagic"], "algorithm.kind"),
        (["--set", "training.round=3"], "training.round: unknown key; did you mean training.rounds?"),
        (["--set", "sede=3"], "sede: unknown key; did you mean seed?"),
        (["--set", "training.xyz=3"], "training.xyz: unknown key"),
        (["--sites", "nowhere"], "nowhere"),
        (["--env", "prod", "--baselines"], "--baselines"),
        (
            ["--baselines", "--set", "evaluation.compare_alone=true"],
            "evaluation.compare_alone trains each hospital alone",
        ),
    ],
)
def test_what_does_not_fit_is_one_message_and_exit_2(
    monkeypatch: pytest.MonkeyPatch, study_folder: Path, sites_folder: Path, arguments: list[str], told: str
) -> None:
    play(monkeypatch, whole_run())
    done = invoke(study_folder, sites_folder, *arguments)
    assert done.exit_code == 2
    assert told in done.output
    assert "Traceback" not in done.output
    assert not Path("out").exists()


def test_what_is_refused_before_anything_starts_leaves_no_folder(
    monkeypatch: pytest.MonkeyPatch, study_folder: Path, sites_folder: Path
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise WardroundError(Reason.ENVIRONMENT_INVALID, "needs --kit")

    monkeypatch.setattr(environments, "run_study", refuse)
    assert invoke(study_folder, sites_folder).exit_code == 2
    assert not Path("out").exists()


def test_debug_shows_the_traceback(monkeypatch: pytest.MonkeyPatch, study_folder: Path, sites_folder: Path) -> None:
    monkeypatch.setenv("WARDROUND_DEBUG", "1")
    assert isinstance(invoke(study_folder, sites_folder, "--sites", "nowhere").exception, WardroundError)
