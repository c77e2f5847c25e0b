"""`wardround release` and `rollback`: what they print, what they leave, and how they end."""

import json
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from support.made_release import key_pair, run_folder, run_lines
from wardround.cli.main import app
from wardround.records.run_lines import EndLine
from wardround.releases.checksums import checksums
from wardround.releases.facts import ReleaseFacts


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


@pytest.fixture
def key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of a working folder with two runs of one study: the second meets its criteria less well."""
    monkeypatch.chdir(tmp_path)
    run_folder(Path("results/brain_tumor/good"))
    run_folder(Path("results/brain_tumor/bad"), run_lines({"worst_site": {"dice_mean": 0.7}}, run="20260102-120000"))
    return key_pair(tmp_path)[0]


def released(key: Path, *options: str) -> Result:
    return invoke("release", "brain_tumor/good", "--approver", "Ada", "--key", str(key), *options)


def test_a_run_that_meets_its_criteria_is_released_and_verified(key: Path) -> None:
    done = released(key)
    assert done.exit_code == 0, done.output
    assert "released releases/brain_tumor/v1" in done.output
    verified = invoke("release", "verify", "releases/brain_tumor/v1", "--public-key", "ec.pub")
    assert (verified.exit_code, verified.output) == (
        0, "releases/brain_tumor/v1: signed by this key, and every file is as it was released\n"
        "brain_tumor v1: the best model of run 20260101-120000, after round 3; approved by Ada, "
        f"{ReleaseFacts.model_validate_json(Path('releases/brain_tumor/v1/release.json').read_bytes()).released}\n"
    )  # fmt: skip


def test_a_partial_run_is_told_before_it_is_released(key: Path) -> None:
    lines = [
        line.model_copy(update={"status": "partial", "reasons": ["hospital-b missed round 2"]})
        if isinstance(line, EndLine)
        else line
        for line in run_lines()
    ]
    run_folder(Path("results/brain_tumor/partial"), lines)
    done = invoke("release", "brain_tumor/partial", "--approver", "Ada", "--key", str(key))
    assert done.exit_code == 0, done.output
    assert "note: the run is partial: hospital-b missed round 2" in done.output
    assert "note" not in released(key).output


def test_options_may_stand_before_the_run(key: Path) -> None:
    done = invoke("release", "--approver", "Ada", "--key", str(key), "--round", "4", "results/brain_tumor/good")
    assert done.exit_code == 1, done.output  # the last model was not compared with own models
    assert "not met, was not compared" in done.output


def test_one_that_does_not_is_refused_with_its_figures(key: Path) -> None:
    done = invoke("release", "results/brain_tumor/bad", "--approver", "Ada", "--key", str(key))
    assert done.exit_code == 1
    assert (
        "hospital-d 0.680, 95\N{NO-BREAK SPACE}% interval 0.650 to 0.710, n 8: not met, judged by 0.650" in done.output
    )
    assert "not released" in done.output
    assert not Path("releases").exists()


def test_without_a_key_it_says_how_to_make_one(key: Path) -> None:
    done = invoke("release", "brain_tumor/good", "--approver", "Ada")
    assert done.exit_code == 2
    assert "openssl ecparam -genkey -noout -name prime256v1 -out release.key" in done.output
    assert not Path("releases").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["good", "--approver", "Ada"], "did you mean results/brain_tumor/good?"),
        (["nothing", "--approver", "Ada"], "wardround runs list"),
        (["brain_tumor/good", "--approver", " "], "name the person"),
        (["brain_tumor/good", "--approver", "Ada", "--round", "1"], "of round 3, and the last, of round 4"),
        (["brain_tumor/good"], "Missing option '--approver'"),
    ],
)
def test_what_does_not_fit_is_one_message_and_exit_2(key: Path, arguments: list[str], told: str) -> None:
    done = invoke("release", *arguments)
    assert done.exit_code == 2
    assert told in done.output
    assert "Traceback" not in done.output


def test_a_changed_release_is_found_and_ends_with_1(key: Path) -> None:
    released(key)
    (Path("releases/brain_tumor/v1") / "MODEL_CARD.md").write_text("a diagnosis")
    done = invoke("release", "verify", "releases/brain_tumor/v1", "--public-key", "ec.pub")
    assert done.exit_code == 1
    assert done.output == "releases/brain_tumor/v1: MODEL_CARD.md: changed since the release\n"


def test_a_rollback_points_back_and_keeps_the_history(key: Path) -> None:
    released(key)
    released(key)
    done = invoke("rollback", "brain_tumor", "--who", "Bo", "--why", "worse on new cases", "--public-key", "ec.pub")
    assert (done.exit_code, done.output) == (0, "brain_tumor: current is v1, was v2\n")
    current = json.loads(Path("releases/brain_tumor/current").read_text())
    assert current["current"] == "v1"
    assert [(step["action"], step["who"]) for step in current["history"]] == [
        ("release", "Ada"), ("release", "Ada"), ("rollback", "Bo")
    ]  # fmt: skip
    again = invoke("rollback", "brain_tumor")
    assert again.exit_code == 2
    assert "no release before v1" in again.output


def test_a_rollback_without_a_key_says_that_no_signature_was_checked(key: Path) -> None:
    released(key)
    released(key)
    done = invoke("rollback", "brain_tumor")
    assert done.exit_code == 0
    assert "signature was not checked: name the key with --public-key" in done.output


def test_a_rollback_to_what_nobody_signed_is_refused(key: Path) -> None:
    released(key)
    released(key)
    folder = Path("releases/brain_tumor/v1")
    (folder / "MODEL_CARD.md").write_text("a diagnosis")
    (folder / "SHA256SUMS").write_text(checksums(folder))
    done = invoke("rollback", "brain_tumor", "--public-key", "ec.pub")
    assert done.exit_code == 2
    assert "not a signature of SHA256SUMS by this key" in done.output
    assert json.loads(Path("releases/brain_tumor/current").read_text())["current"] == "v2"


def test_a_study_that_was_never_released_is_told_with_those_that_were(key: Path) -> None:
    released(key)
    done = invoke("rollback", "braintumor")
    assert done.exit_code == 2
    assert "no release of this study is there, but of brain_tumor; name the study as its job.yaml" in done.output


def test_an_encrypted_key_asks_for_its_password(key: Path) -> None:
    from support.made_release import openssl

    openssl("ec", "-in", str(key), "-aes256", "-passout", "pass:secret", "-out", "locked.key")
    arguments = ["release", "brain_tumor/good", "--approver", "Ada", "--key", "locked.key"]
    assert CliRunner().invoke(app, arguments, input="wrong\n").exit_code == 2
    assert CliRunner().invoke(app, arguments, input="secret\n").exit_code == 0
