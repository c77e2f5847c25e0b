"""What a person got wrong is one message and exit code 2, never a traceback."""

import errno
from pathlib import Path

import pytest
from typer.testing import CliRunner

from wardround.cli.main import app

CLI = CliRunner()


@pytest.fixture
def taken(tmp_path: Path) -> Path:
    """A file where a folder is to be."""
    file = tmp_path / "taken"
    file.write_text("mine")
    return file


def _is_told(arguments: list[str], words: str) -> None:
    done = CLI.invoke(app, arguments)
    assert done.exit_code == 2, done.output
    assert words in done.output
    assert isinstance(done.exception, SystemExit)


@pytest.mark.parametrize("below", ["", "results"])
@pytest.mark.parametrize("command", ["run", "export", "synth"])
def test_an_output_that_is_a_file_or_lies_below_one(
    study_folder: Path, sites_folder: Path, taken: Path, command: str, below: str
) -> None:
    out = str(taken / below) if below else str(taken)
    arguments = {
        "run": ["run", str(study_folder), "--sites", str(sites_folder), "--out", out],
        "export": ["export", str(study_folder), out],
        "synth": ["synth", "brain-tumor", out, "--hospitals", "1", "--size", "16", "--train", "1"],
    }
    _is_told(arguments[command], "taken")
    assert taken.read_text() == "mine"


def test_a_file_error_without_a_name_and_a_closed_pipe(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("wardround.cli.write_report.write_report", _raise(OSError(errno.ENOSPC, "No space left")))
    _is_told(["report", str(tmp_path)], "No space left")
    monkeypatch.setattr("wardround.cli.write_report.write_report", _raise(BrokenPipeError(errno.EPIPE, "Broken pipe")))
    assert CLI.invoke(app, ["report", str(tmp_path)]).exit_code == 1


def test_a_fault_of_ours_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("wardround.cli.write_report.write_report", _raise(ZeroDivisionError("ours")))
    assert isinstance(CLI.invoke(app, ["report", str(tmp_path)]).exception, ZeroDivisionError)


def _raise(error: Exception):
    def fail(*_: object) -> None:
        raise error

    return fail
