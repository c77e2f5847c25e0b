"""A release is as it was signed, or what is wrong is named."""

import shutil
from pathlib import Path

import pytest

from support.made_release import key_pair, with_inputs
from wardround.records.reasons import WardroundError
from wardround.releases.candidate import candidate
from wardround.releases.checksums import LIST, SIGNATURE, checksums
from wardround.releases.make import make_release
from wardround.releases.signature import private_key, public_key
from wardround.releases.verify import faults


@pytest.fixture
def release(run: Path, keys: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    with_inputs(run, monkeypatch)
    return make_release(candidate(run), Path("releases"), private_key(keys[0], str), approver="Ada")


def test_an_untouched_release_has_no_fault(release: Path, keys: tuple[Path, Path], tmp_path: Path) -> None:
    assert faults(release, public_key(keys[1])) == []
    shutil.copytree(release, tmp_path / "copied")
    assert faults(tmp_path / "copied", public_key(keys[1])) == []


@pytest.mark.parametrize(
    "name", ["model.safetensors", "model.json", "MODEL_CARD.md", "manifest.json", "acceptance.json", "statistics.json"]
)
def test_every_file_is_watched(release: Path, keys: tuple[Path, Path], name: str) -> None:
    file = release / name
    content = file.read_bytes()
    file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    assert faults(release, public_key(keys[1])) == [f"{name}: changed since the release"]
    file.unlink()
    assert faults(release, public_key(keys[1])) == [f"{name}: missing"]
    file.symlink_to(keys[1])
    assert f"{name}: a link; a release holds its files itself" in faults(release, public_key(keys[1]))


def test_a_file_more_is_found_wherever_it_is(release: Path, keys: tuple[Path, Path]) -> None:
    (release / "more").mkdir()
    (release / "more" / ".hidden").write_text("")
    assert faults(release, public_key(keys[1])) == ["more/.hidden: not in SHA256SUMS"]


def test_a_list_that_was_made_to_fit_is_no_longer_signed(release: Path, keys: tuple[Path, Path]) -> None:
    (release / "MODEL_CARD.md").write_text("a better card")
    (release / LIST).write_text(checksums(release))
    assert [fault.partition(":")[0] for fault in faults(release, public_key(keys[1]))] == [SIGNATURE]


def test_another_key_a_missing_signature_and_a_missing_list_are_found(
    release: Path, keys: tuple[Path, Path], tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    assert "not a signature of SHA256SUMS by this key" in faults(release, public_key(key_pair(other)[1]))[0]
    (release / SIGNATURE).write_bytes(b"")
    assert len(faults(release, public_key(keys[1]))) == 1
    (release / SIGNATURE).unlink()
    (release / LIST).unlink()
    assert faults(release, public_key(keys[1])) == [
        "SHA256SUMS.sig: missing, so nobody answers for this folder", "SHA256SUMS: missing"
    ]  # fmt: skip


def test_keys_that_openssl_dgst_does_not_take_are_refused_with_how_to_make_one(tmp_path: Path) -> None:
    private, public = key_pair(tmp_path, "ed25519")
    for read in (lambda: private_key(private, str), lambda: public_key(public), lambda: public_key(tmp_path / "none")):
        with pytest.raises(WardroundError, match="openssl ecparam -genkey"):
            read()


def test_an_encrypted_key_asks_for_its_password(keys: tuple[Path, Path], tmp_path: Path) -> None:
    from support.made_release import openssl

    locked = tmp_path / "locked.key"
    openssl("ec", "-in", str(keys[0]), "-aes256", "-passout", "pass:secret", "-out", str(locked))
    assert private_key(locked, lambda: "secret").public_key() == private_key(keys[0], str).public_key()
    with pytest.raises(WardroundError, match="and its password"):
        private_key(locked, lambda: "wrong")
