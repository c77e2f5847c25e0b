"""`wardround export`: the job folder, and a word where hospitals will refuse it."""

from pathlib import Path

from typer.testing import CliRunner

from wardround.cli.main import app


def test_a_quorum_that_hospitals_refuse_is_warned_of(study_folder: Path) -> None:
    fine = CliRunner().invoke(app, ["export", str(study_folder), "jobs-3"])
    assert fine.exit_code == 0, fine.output
    assert "refuse" not in fine.output
    small = CliRunner().invoke(app, ["export", str(study_folder), "jobs-1", "--set", "federation.quorum=1"])
    assert small.exit_code == 0, small.output
    assert "federation.quorum: 1 is too small" in " ".join(small.output.split())
    assert Path("jobs-1/brain_tumor/meta.json").is_file()


def test_a_key_metric_that_no_round_reports_is_not_exported(study_folder: Path, tmp_path: Path) -> None:
    arguments = ["export", str(study_folder), str(tmp_path / "out"), "--set", "evaluation.key_metric=hd95_mean"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 2, done.output
    assert "only after the last round" in done.output
    assert not (tmp_path / "out").exists()
