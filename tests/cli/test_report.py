"""`wardround report`: the page, the JSON and the manifest again, from a run's record."""

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from support.made_run import start, whole_run
from wardround.cli.main import app
from wardround.records.manifest import read_manifest
from wardround.records.run_lines import append_line


def invoke(study_folder: Path, sites_folder: Path, *arguments: str) -> "Result":
    fixed = ["run", str(study_folder), "--sites", str(sites_folder), "--out", "out"]
    return CliRunner().invoke(app, [*fixed, *arguments])


def test_report_again_from_the_record_gives_the_same_bytes(tmp_path: Path) -> None:
    for line in whole_run():
        append_line(tmp_path / "run.jsonl", line)
    pages = []
    for _ in range(2):
        assert CliRunner().invoke(app, ["report", str(tmp_path)]).exit_code == 0
        pages.append((tmp_path / "report.html").read_bytes())
    assert pages[0] == pages[1]


def test_report_adds_a_missing_manifest_and_keeps_one_that_is_there(tmp_path: Path) -> None:
    for line in whole_run():
        append_line(tmp_path / "run.jsonl", line)
    CliRunner().invoke(app, ["report", str(tmp_path)])
    assert read_manifest(tmp_path).study == "brain_tumor"
    (tmp_path / "manifest.json").write_text("mine")
    CliRunner().invoke(app, ["report", str(tmp_path)])
    assert (tmp_path / "manifest.json").read_text() == "mine"


def test_report_embeds_pictures_of_sites_marked_synthetic_only(tmp_path: Path, sites_folder: Path) -> None:
    for line in whole_run():
        append_line(tmp_path / "run.jsonl", line)
    for name in "ab":
        folder = sites_folder / f"hospital-{name}" / "state" / "20260101-120000" / "pictures"
        folder.mkdir(parents=True)
        (folder / "case-1.png").write_bytes(b"\x89PNG" + name.encode())
    file = sites_folder / "hospital-b" / "site.yaml"
    file.write_text(file.read_text().replace("synthetic: true", "synthetic: false"))
    done = CliRunner().invoke(app, ["report", str(tmp_path), "--sites", str(sites_folder)])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "report.html").read_text().count("data:image/png") == 1


def test_report_of_a_folder_without_a_record_is_a_clear_error(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["report", str(tmp_path)])
    assert done.exit_code == 2
    assert "run.jsonl" in done.output


@pytest.mark.parametrize("study", [{}, {"name": "x"}, {"name": "x", "evaluation": 3}, {"name": "x", "evaluation": {}}])
def test_report_of_a_record_without_a_key_metric_is_a_clear_error(tmp_path: Path, study: dict) -> None:
    append_line(tmp_path / "run.jsonl", start().model_copy(update={"study": study}))
    done = CliRunner().invoke(app, ["report", str(tmp_path)])
    assert done.exit_code == 2, done.output
    assert "evaluation.key_metric" in done.output
