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
    assert "/srv/images: nothing is there now (data.brain_tumor)" in done.stderr
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
