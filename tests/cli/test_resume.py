"""`wardround resume`: what it takes from the run's folder, what it refuses, and what it leaves."""

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from support.made_run import round_line, start, whole_run
from support.played import play
from wardround.cli.main import app
from wardround.cli.resume_hint import resume_hint
from wardround.flare import recovery, server_checkpoint
from wardround.flare.server_checkpoint import CheckpointWriter
from wardround.records.launch import Launch, read_launch, write_launch
from wardround.records.reasons import Reason, WardroundError
from wardround.records.run_lines import EndLine, ResumeLine, append_line
from wardround.records.server_state import FOLDER, ServerState, StoredFile
from wardround.records.study import Study, load_study

RUN = "brain_tumor-1"
OUT = Path("results/tuesday's run")


def keep_checkpoint(study: Study, rounds_done: int = 2, folder: Path | None = None) -> None:
    """As the server would have left one in the results' folder."""

    def state(files: dict[str, StoredFile]) -> ServerState:
        return ServerState(
            wardround=server_checkpoint.__version__,
            run=RUN,
            environment="sim",
            study=study.model_dump(mode="json"),
            study_digest=study.digest(),
            rounds_done=rounds_done,
            fixed_sites=(),
            scores={},
            acknowledged={},
            expected={},
            contributed={},
            partial=[],
            manifests=start().sites,
            missing={},
            **files,
        )

    record = "".join(f"{line.model_dump_json()}\n" for line in whole_run()[: rounds_done + 1]).encode()
    CheckpointWriter(folder or OUT / FOLDER).write(state, rounds_done=rounds_done, model={}, best=None, record=record)


@pytest.fixture
def stopped(study_folder: Path, sites_folder: Path) -> Path:
    """A run of four rounds that was stopped after the second."""
    OUT.mkdir(parents=True)
    for line in whole_run()[:3]:
        append_line(OUT / "run.jsonl", line)
    sites = [sites_folder / f"hospital-{name}" / "site.yaml" for name in "abcd"]
    write_launch(OUT, Launch(environment="sim", study="brain_tumor", run=RUN, sites=sites))
    keep_checkpoint(load_study(study_folder))
    return OUT


def invoke(*arguments: str) -> "Result":
    return CliRunner().invoke(app, ["resume", str(OUT), *arguments])


def _goes_on() -> ResumeLine:
    return ResumeLine(time="2026-01-02T08:30:00+00:00", round=2, because="it was stopped", sites=start().sites)


def test_a_run_goes_on_where_it_was_with_the_sites_that_it_had(
    monkeypatch: pytest.MonkeyPatch, stopped: Path, study_folder: Path
) -> None:
    lines = whole_run()

    def play_on(_: Study) -> list:
        (stopped / "run.jsonl").unlink()
        return [*lines[:3], _goes_on(), *lines[3:]]

    calls = play(monkeypatch, play_on)
    done = invoke()
    assert done.exit_code == 0, done.output
    (call,) = calls
    assert call["study"] == load_study(study_folder)
    assert call["out"] == OUT
    assert call["environment"] == "sim"
    assert [file.parent.name for file in call["sites"]] == [f"hospital-{name}" for name in "abcd"]
    continuation = call["continuation"]
    assert (continuation.state.rounds_done, continuation.lines) == (2, 3)
    assert continuation.because == "it was stopped"
    assert "goes on with round 3 of 4: hospital-a, hospital-b, hospital-c, hospital-d" in done.output
    assert "Resumed at round 3, 2026-01-02 08:30 UTC, because it was stopped." in done.output
    assert "Resumed at round 3" in (OUT / "report.html").read_text()
    assert (OUT / "before-resume-1" / "run.jsonl").read_text().count("\n") == 3


def test_it_goes_on_without_a_site_and_with_another_quorum(monkeypatch: pytest.MonkeyPatch, stopped: Path) -> None:
    calls = play(monkeypatch, whole_run()[3:])
    invoke("--without", "hospital-c", "--set", "federation.quorum=2")
    assert [file.parent.name for file in calls[0]["sites"]] == ["hospital-a", "hospital-b", "hospital-d"]
    assert calls[0]["continuation"].left_out == ("hospital-c",)
    assert calls[0]["study"].federation.quorum == 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--set", "training.rounds=6"], "training.rounds: 4 in the run, 6 now"),
        (["--set", "seed=1"], "seed: 0 in the run, 1 now"),
        (["--set", "federation.round_deadline_seconds=1"], "does nothing with round_deadline_seconds 1"),
        (["--without", "hospital-x"], "--without hospital-x: not in this run, which has hospital-a, hospital-b"),
        ([f"--without=hospital-{name}" for name in "abc"], "leaves no hospital that trains"),
        (["--after-round", "1"], "no checkpoint after round 1; kept: 2"),
        (["--checkpoint", "nowhere"], "nowhere: missing, so there is no checkpoint to go on from"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_started(
    monkeypatch: pytest.MonkeyPatch, stopped: Path, arguments: list[str], told: str
) -> None:
    calls = play(monkeypatch, [])
    done = invoke(*arguments)
    assert done.exit_code == 2
    assert told in done.output
    assert calls == []
    assert not (OUT / "before-resume-1").exists()


def test_a_complete_run_is_refused(monkeypatch: pytest.MonkeyPatch, stopped: Path) -> None:
    append_line(OUT / "run.jsonl", EndLine(status="complete"))
    calls = play(monkeypatch, [])
    done = invoke()
    assert done.exit_code == 2
    assert "this run is complete, so there is nothing to go on with" in done.output
    assert calls == []


def test_a_run_that_went_on_to_its_end_without_its_command_is_told_and_not_trained_again(
    monkeypatch: pytest.MonkeyPatch, stopped: Path, study_folder: Path
) -> None:
    calls = play(monkeypatch, [])

    (stopped / "run.jsonl").unlink()
    first = start().model_copy(update={"study": load_study(study_folder).model_dump(mode="json")})

    def recovered(out: Path, _kit: Path | None) -> Launch | None:
        for line in [first, *whole_run()[1:]]:
            append_line(out / "run.jsonl", line)
        return read_launch(out)

    monkeypatch.setattr(recovery, "recover", recovered)
    done = invoke()
    assert done.exit_code == 0, done.output
    assert "without its command: nothing is trained again" in done.output
    assert calls == []
    assert (OUT / "report.html").is_file()
    assert (OUT / "manifest.json").is_file()
    assert not (OUT / FOLDER).exists()
    assert "this run is complete" in invoke().output


def test_another_runs_checkpoint_is_refused(monkeypatch: pytest.MonkeyPatch, stopped: Path) -> None:
    write_launch(OUT, Launch(environment="sim", study="brain_tumor", run="brain_tumor-2"))
    play(monkeypatch, [])
    assert "of run brain_tumor-1, and" in invoke().output


def test_a_copy_of_a_jobs_folder_at_the_server_will_do(
    monkeypatch: pytest.MonkeyPatch, study_folder: Path, tmp_path: Path
) -> None:
    keep_checkpoint(load_study(study_folder), 3, tmp_path / "job-17" / FOLDER)
    calls = play(monkeypatch, whole_run())
    assert "name the --kit" in invoke("--checkpoint", str(tmp_path / "job-17")).output
    done = invoke("--checkpoint", str(tmp_path / "job-17"), "--kit", str(tmp_path / "kit"))
    assert calls[0]["environment"] == "prod", done.output
    assert calls[0]["kit"] == tmp_path / "kit"
    assert calls[0]["continuation"].state.rounds_done == 3


@pytest.mark.parametrize(
    ("then", "code"), [(WardroundError(Reason.FLARE_FAILED, "the server is gone"), 1), (KeyboardInterrupt(), 130)]
)
def test_a_run_that_fails_or_is_stopped_says_how_it_goes_on(
    monkeypatch: pytest.MonkeyPatch, study_folder: Path, sites_folder: Path, then: BaseException, code: int
) -> None:
    def fail(study: Study) -> list:
        keep_checkpoint(study)
        return [start(), round_line(0), round_line(1)]

    play(monkeypatch, fail, then)
    done = CliRunner().invoke(app, ["run", str(study_folder), "--sites", str(sites_folder), "--out", str(OUT)])
    assert done.exit_code == code
    quoted = "'results/tuesday'\"'\"'s run'"
    hint = f"next: wardround resume {quoted} goes on from round 3 of 4; wardround runs show {quoted}\n"
    assert done.output.count(hint) == 1


def test_where_only_scoring_is_left_the_hint_says_so(stopped: Path, study_folder: Path) -> None:
    keep_checkpoint(load_study(study_folder), 4)
    assert str(resume_hint(OUT, baselines=True)).endswith("--baselines goes on with the scoring; all rounds are done")


def test_in_production_the_hint_names_the_jobs_folder_at_the_server(tmp_path: Path) -> None:
    write_launch(tmp_path, Launch(environment="prod", study="s", run="r", kit=Path("/kits/lead"), job="job-17"))
    hint = resume_hint(tmp_path)
    assert hint is not None
    assert hint.startswith(f"wardround resume {tmp_path} --kit /kits/lead goes on where the server hands out")
    assert "a copy of job-17/checkpoint in the server's folder" in hint
    assert resume_hint(tmp_path / "nothing") is None
