"""`wardround run` that somebody ends: by Ctrl-C, or by asking the process to stop."""

import signal
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from support.made_run import round_line, start
from support.played import play
from wardround.cli.main import app
from wardround.cli.run import stoppable
from wardround.records.manifest import read_manifest


def invoke(study_folder: Path, sites_folder: Path, *arguments: str) -> "Result":
    fixed = ["run", str(study_folder), "--sites", str(sites_folder), "--out", "out"]
    return CliRunner().invoke(app, [*fixed, *arguments])


def test_interrupt_exits_130_and_says_what_was_kept(
    monkeypatch: pytest.MonkeyPatch, study_folder: Path, sites_folder: Path
) -> None:
    play(monkeypatch, [start(), round_line(0), round_line(1)], KeyboardInterrupt())
    done = invoke(study_folder, sites_folder)
    assert done.exit_code == 130
    assert "Stopped after 2 rounds" in done.output
    assert "run.jsonl" in done.output
    assert read_manifest(Path("out")).status == "stopped"
    assert "the run was stopped" in Path("out/report.html").read_text()


@pytest.mark.parametrize("request_to_stop", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_every_request_to_stop_is_answered_and_ends_as_an_interrupt(
    request_to_stop: signal.Signals, capfd: pytest.CaptureFixture[str]
) -> None:
    handler = signal.getsignal(request_to_stop)
    with pytest.raises(KeyboardInterrupt), stoppable():
        signal.raise_signal(request_to_stop)
    assert "stopping, a few seconds" in capfd.readouterr().err
    assert signal.getsignal(request_to_stop) is handler


def test_a_request_that_the_caller_ignores_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # what nohup does
    try:
        with stoppable():
            signal.raise_signal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


def test_an_interrupted_run_tells_why_it_has_no_report(
    monkeypatch: pytest.MonkeyPatch, study_folder: Path, sites_folder: Path
) -> None:
    play(monkeypatch, [round_line(0)], KeyboardInterrupt())
    done = invoke(study_folder, sites_folder)
    assert done.exit_code == 130
    assert "no report: run.jsonl: expected a start line" in done.output
