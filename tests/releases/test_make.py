"""A release: whole, signed so that OpenSSL says so, never overwritten."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from support.made_release import BEST_ROUND, LAST_ROUND, key_pair, openssl, run_folder, run_lines, with_inputs
from wardround.learners.checkpoint import load_checkpoint
from wardround.records.reasons import Reason, WardroundError
from wardround.releases import make as making
from wardround.releases.candidate import candidate
from wardround.releases.checksums import differences
from wardround.releases.history import point_forward, read_history
from wardround.releases.make import ReleaseFacts, make_release
from wardround.releases.signature import private_key

FILES = [
    *("MODEL_CARD.md", "SHA256SUMS", "SHA256SUMS.sig", "acceptance.json", "manifest.json"),
    *("model.json", "model.safetensors", "model_card.json", "release.json"),
]


def release(run: Path, keys: tuple[Path, Path], **options: str) -> Path:
    return make_release(candidate(run), Path("releases"), private_key(keys[0], str), approver="Ada Approver", **options)


def test_a_release_holds_the_model_its_card_and_all_that_names_it(run: Path, keys: tuple[Path, Path]) -> None:
    folder = release(run, keys)
    assert folder == Path("releases/brain_tumor/v1")
    assert sorted(file.name for file in folder.iterdir()) == FILES
    assert (folder / "model.safetensors").read_bytes() == (run / "models/best.safetensors").read_bytes()
    assert load_checkpoint(folder / "model").card.model_round == BEST_ROUND
    facts = ReleaseFacts.model_validate_json((folder / "release.json").read_text())
    assert (facts.run, facts.arm, facts.approver) == ("20260101-120000", "best", "Ada Approver")
    assert facts.weights_sha256 == load_checkpoint(folder / "model").card.weights_sha256
    assert json.loads((folder / "acceptance.json").read_text())["criteria"][0]["limit"] == 0.6
    assert (folder / "manifest.json").read_bytes() == (run / "manifest.json").read_bytes()


@pytest.mark.parametrize("kind", ["ec", "rsa"])
def test_plain_openssl_and_sha256sum_verify_it(run: Path, tmp_path: Path, kind: str) -> None:
    private, public = key_pair(tmp_path, kind)
    folder = release(run, (private, public))
    arguments = ["-verify", str(public), "-signature", str(folder / "SHA256SUMS.sig")]
    assert "Verified OK" in openssl("dgst", "-sha256", *arguments, str(folder / "SHA256SUMS"))
    checked = subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=folder, capture_output=True)
    assert checked.returncode == 0
    assert len(checked.stdout.splitlines()) == len(FILES) - 2
    listed = (folder / "SHA256SUMS").read_bytes()
    (folder / "SHA256SUMS").write_bytes(bytes([listed[0] ^ 1]) + listed[1:])
    with pytest.raises(subprocess.CalledProcessError):
        openssl("dgst", "-sha256", *arguments, str(folder / "SHA256SUMS"))


def test_the_fingerprint_of_the_key_is_openssls(run: Path, keys: tuple[Path, Path]) -> None:
    facts = json.loads((release(run, keys) / "release.json").read_text())
    der = subprocess.run(
        ["openssl", "pkey", "-pubin", "-in", str(keys[1]), "-outform", "DER"], capture_output=True, check=True
    ).stdout
    told = subprocess.run(["sha256sum"], input=der, capture_output=True, check=True).stdout.decode()
    assert facts["key_sha256"] == told.split()[0]


def test_how_the_training_inputs_were_distributed_goes_with_it(
    run: Path, keys: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    with_inputs(run, monkeypatch)
    folder = release(run, keys)
    found = json.loads((folder / "statistics.json").read_text())
    (shares,) = found["inputs"]
    assert [(cell["label"], cell["share"]) for cell in shares["cells"]] == [("low", 0.7), ("high or missing", 0.3)]
    assert (shares["rows"], shares["sites"], found["study"]) == (60, 3, "brain_tumor")
    assert "statistics.json" in (folder / "SHA256SUMS").read_text()
    assert json.loads((folder / "release.json").read_text())["statistics"] is True


def test_a_run_whose_sites_told_no_counts_is_released_without(run: Path, keys: tuple[Path, Path]) -> None:
    folder = release(run, keys)
    assert not (folder / "statistics.json").exists()
    assert json.loads((folder / "release.json").read_text())["statistics"] is False


def test_the_next_release_has_the_next_number_and_becomes_the_current_one(run: Path, keys: tuple[Path, Path]) -> None:
    versions = [release(run, keys).name, release(run, keys, version="2026-01").name, release(run, keys).name]
    assert versions == ["v1", "2026-01", "v2"]
    history = read_history(Path("releases/brain_tumor"))
    assert history.current == "v2"
    assert [(step.before, step.after, step.who) for step in history.history] == [
        (None, "v1", "Ada Approver"), ("v1", "2026-01", "Ada Approver"), ("2026-01", "v2", "Ada Approver")
    ]  # fmt: skip


def test_a_release_is_never_overwritten(run: Path, keys: tuple[Path, Path]) -> None:
    folder = release(run, keys)
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    with pytest.raises(WardroundError, match="never overwritten"):
        release(run, keys, version="v1")
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


@pytest.mark.parametrize("version", ["../v9", ".hidden", "a/b", ""])
def test_a_version_is_a_plain_name(run: Path, keys: tuple[Path, Path], version: str) -> None:
    if not version:
        assert release(run, keys, version=version).name == "v1"
        return
    with pytest.raises(WardroundError, match="--version"):
        release(run, keys, version=version)
    assert not Path("releases/v9").exists()


def test_one_that_fails_half_way_leaves_nothing(
    run: Path, keys: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "sign", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(OSError, match=r"No space left on device: 'releases/brain_tumor/v1'"):
        release(run, keys)
    assert sorted(path.name for path in Path("releases/brain_tumor").iterdir()) == [".lock", "current"]
    monkeypatch.undo()
    monkeypatch.chdir(run.parents[2])
    assert release(run, keys).name == "v1"


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("earlier", [0, 1])
def test_one_that_could_not_become_the_current_one_is_not_left(
    run: Path, keys: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, failure: BaseException, earlier: int
) -> None:
    for _ in range(earlier):
        release(run, keys)
    with monkeypatch.context() as patch:
        patch.setattr(making, "point_forward", lambda *_, **__: (_ for _ in ()).throw(failure))
        with pytest.raises(type(failure)):
            release(run, keys)
    study = Path("releases/brain_tumor")
    assert sorted(path.name for path in study.iterdir()) == [".lock", "current", *(["v1"] if earlier else [])]
    assert read_history(study).current == ("v1" if earlier else None)
    assert release(run, keys).name == f"v{earlier + 1}"


@pytest.mark.parametrize("failure", [OSError(5, "Input/output error"), KeyboardInterrupt()])
@pytest.mark.parametrize("damage", ["cut", "lost"])
def test_what_went_wrong_first_is_told_also_where_the_history_is_gone_with_it(
    run: Path, keys: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, failure: BaseException, damage: str
) -> None:
    release(run, keys)
    current = Path("releases/brain_tumor/current")

    def failing(*_: object, **__: object) -> None:
        if damage == "cut":
            current.write_text(current.read_text()[:50])
        else:
            current.unlink()
        raise failure

    monkeypatch.setattr(making, "point_forward", failing)
    with pytest.raises(type(failure)):
        release(run, keys)
    assert [path.name for path in sorted(current.parent.glob("*v*"))] == ["v1"]


def test_one_that_is_interrupted_once_it_is_the_current_one_stays(
    run: Path, keys: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*arguments: object, **more: object) -> None:
        point_forward(*arguments, **more)
        raise KeyboardInterrupt

    monkeypatch.setattr(making, "point_forward", interrupted)
    with pytest.raises(KeyboardInterrupt):
        release(run, keys)
    assert read_history(Path("releases/brain_tumor")).current == "v1"
    assert not differences(Path("releases/brain_tumor/v1"))


def test_a_kill_right_after_the_first_release_holds_up_no_other(
    run: Path, keys: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(making, "point_forward", lambda *_, **__: (_ for _ in ()).throw(InterruptedError()))
        patch.setattr(shutil, "rmtree", lambda *_, **__: None)  # a killed process cleans up nothing
        with pytest.raises(InterruptedError):
            release(run, keys)
    assert Path("releases/brain_tumor/v1/SHA256SUMS.sig").exists()
    assert release(run, keys).name == "v2"
    assert read_history(Path("releases/brain_tumor")).previous() is None


@pytest.mark.parametrize("damage", ["cut", "folder", "lost"])
def test_where_the_history_is_damaged_nothing_is_released(run: Path, keys: tuple[Path, Path], damage: str) -> None:
    current = release(run, keys).parent / "current"
    text = current.read_text()
    current.unlink()
    if damage == "cut":
        current.write_text(text[:50])
    elif damage == "folder":
        current.mkdir()
    with pytest.raises(WardroundError, match=r"current: .*restore it from a copy"):
        release(run, keys)
    assert not list(current.parent.glob("v2")) + list(current.parent.glob(".*v2"))


def test_a_model_that_misses_a_criterion_is_not_released(tmp_path: Path, keys: tuple[Path, Path]) -> None:
    run = run_folder(tmp_path / "run", run_lines({"worst_site": {"dice_mean": 0.66}}))
    with pytest.raises(WardroundError, match="does not meet"):
        make_release(candidate(run), tmp_path / "releases", private_key(keys[0], str), approver="Ada")
    assert not (tmp_path / "releases").exists()


def test_the_last_model_can_be_chosen_and_no_other_round(run: Path) -> None:
    assert candidate(run).arm == "best"
    assert candidate(run, BEST_ROUND).arm == "best"
    last = candidate(run, LAST_ROUND)
    assert (last.arm, last.checkpoint.card.model_round, last.outcome.arm) == ("last", LAST_ROUND, "last")
    with pytest.raises(
        WardroundError, match=r"--round 2: .* keeps the best model, of round 3, and the last, of round 4"
    ):
        candidate(run, 2)


@pytest.mark.parametrize("file", ["best.safetensors", "best.json"])
def test_a_file_that_is_not_as_the_run_left_it_is_found(run: Path, file: str) -> None:
    shutil.copy(run / "models" / file.replace("best", "last"), run / "models" / file)
    with pytest.raises(WardroundError, match="not as the run left it") as caught:
        candidate(run)
    assert caught.value.code is Reason.DATA_UNREADABLE


def test_a_run_without_an_end_or_a_model_has_nothing_to_release(tmp_path: Path, run: Path) -> None:
    stopped = run_folder(tmp_path / "stopped", run_lines()[:-1])
    with pytest.raises(WardroundError, match="stopped and has no model"):
        candidate(stopped)
    (run / "manifest.json").unlink()
    with pytest.raises(WardroundError, match="wardround report"):
        candidate(run)
