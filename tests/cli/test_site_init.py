"""`wardround site init` from flags and from questions."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from wardround.cli.main import app
from wardround.site.config import load_site_config

CLI = CliRunner()


def test_flags_write_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    command = ["site", "init", "hospital-e", "--data", "brain_tumor=/srv/images", "--gpus", "1", "--role", "evaluate"]
    done = CLI.invoke(app, command)
    assert done.exit_code == 0, done.output
    assert "site_configs/hospital-e/site.yaml\n" in done.stdout
    assert "/srv/images: nothing is there now (data.brain_tumor.folder)" in done.stderr
    assert "wardround site inspect site_configs/hospital-e/site.yaml" in done.stderr
    config = load_site_config(Path("site_configs/hospital-e/site.yaml"))
    assert (config.name, config.role, config.device, list(config.data)) == (
        "hospital-e",
        "evaluate",
        "cuda",
        ["brain_tumor"],
    )
    assert CLI.invoke(app, command).exit_code == 2
    assert CLI.invoke(app, [*command, "--force"]).exit_code == 0


@pytest.mark.parametrize(
    "data",
    [
        [],
        ["--data", "brain_tumor"],
        ["--data", "=x"],
        ["--data", "brain_tumor=/srv/a", "--data", "brain_tumor=/srv/b"],
    ],
)
def test_without_data_and_terminal_it_is_exit_code_2(tmp_path: Path, data: list[str]) -> None:
    done = CLI.invoke(app, ["site", "init", "a", "--folder", str(tmp_path / "a"), *data])
    assert done.exit_code == 2
    assert "--data" in done.output


def test_questions_at_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wardround.cli.site_init.at_terminal", lambda: True)
    folder = tmp_path / "hospital-e"
    done = CLI.invoke(app, ["site", "init", "hospital-e", "--folder", str(folder)], input="\n/srv/stays.csv\n2\n")
    assert done.exit_code == 0, done.output
    config = load_site_config(folder / "site.yaml")
    assert list(config.data) == ["clinical_risk"]
    assert config.device == "cuda"


@pytest.mark.parametrize("asked", [True, False])
def test_a_relative_path_is_one_from_where_it_is_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("wardround.cli.site_init.at_terminal", lambda: asked)
    table = tmp_path / "stays.csv"
    table.write_text("patient\n1\n")
    flags = [] if asked else ["--data", "clinical_risk=stays.csv", "--gpus", "0", "--cache", "fast"]
    command = ["site", "init", "hospital-e", "--folder", "own/hospital-e", *flags]
    done = CLI.invoke(app, command, input="\nstays.csv\n0\n")
    assert done.exit_code == 0, done.output
    assert "nothing is there" not in done.output
    config = load_site_config(tmp_path / "own/hospital-e/site.yaml")
    assert config.data["clinical_risk"]["source"]["file"] == str(table)
    assert config.state_folder == tmp_path / "own/hospital-e/state"
    assert config.cache_folder == tmp_path / ("own/hospital-e/cache" if asked else "fast")
    assert f"file: {table}" in (tmp_path / "own/hospital-e/site.yaml").read_text()


def test_a_home_folder_and_an_environment_variable_stay_what_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXPORTS", str(tmp_path))
    folder = tmp_path / "a"
    command = ["site", "init", "a", "--folder", str(folder), "--gpus", "0", "--data", "clinical_risk=${EXPORTS}/t.csv"]
    done = CLI.invoke(app, [*command, "--data", "brain_tumor=~/images"])
    assert done.exit_code == 0, done.output
    assert f"{tmp_path / 't.csv'}: nothing is there now (data.clinical_risk.source.file)" in done.stderr
    text = (folder / "site.yaml").read_text()
    assert f"{tmp_path}" not in text
    assert {"${EXPORTS}/t.csv", "~/images"} <= set(text.replace('"', "").replace("'", "").split())
