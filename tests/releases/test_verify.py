"""A release is as it was signed, or what is wrong is named."""

import os
import shutil
from pathlib import Path

import pytest

from support.made_release import key_pair, openssl, with_inputs
from wardround.records.reasons import WardroundError
from wardround.releases.candidate import candidate
from wardround.releases.checksums import LIST, SIGNATURE, checksums
from wardround.releases.make import make_release
from wardround.releases.read import read_release
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
    (release / "more" / ".hidden").unlink()
    assert faults(release, public_key(keys[1])) == ["more: not in SHA256SUMS", "more: no plain file"]


def test_a_pipe_in_place_of_a_file_is_found_and_not_waited_for(release: Path, keys: tuple[Path, Path]) -> None:
    (release / "model.json").unlink()
    os.mkfifo(release / "model.json")
    assert faults(release, public_key(keys[1])) == ["model.json: no plain file"]


def test_an_older_release_under_a_newer_name_is_found(release: Path, keys: tuple[Path, Path], tmp_path: Path) -> None:
    newer = shutil.copytree(release, release.with_name("v2"))
    assert faults(newer, public_key(keys[1])) == [
        "release.json: expected v2, as the folder is named, found v1: it is another release"
    ]
    with pytest.raises(WardroundError, match="expected v2"):
        read_release(newer)


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


def test_keys_that_openssl_dgst_does_not_take_are_refused(tmp_path: Path) -> None:
    private, public = key_pair(tmp_path, "ed25519")
    with pytest.raises(WardroundError, match="expected an elliptic-curve or RSA private key, found one of another"):
        private_key(private, str)
    with pytest.raises(WardroundError, match="expected an elliptic-curve or RSA public key, found one of another"):
        public_key(public)


@pytest.mark.parametrize(
    "make",
    [
        ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024"],
        ["ecparam", "-genkey", "-noout", "-name", "secp224r1"],
    ],
)
def test_a_key_that_can_be_forged_is_refused(tmp_path: Path, make: list[str]) -> None:
    openssl(*make, "-out", str(tmp_path / "short.key"))
    openssl("pkey", "-in", str(tmp_path / "short.key"), "-pubout", "-out", str(tmp_path / "short.pub"))
    for read in (lambda: private_key(tmp_path / "short.key", str), lambda: public_key(tmp_path / "short.pub")):
        with pytest.raises(WardroundError, match=r"expected a key of at least [\d,]+ bits, found one of"):
            read()


def test_how_to_make_a_key_is_told_to_a_signer_where_it_writes_over_none(
    keys: tuple[Path, Path], tmp_path: Path
) -> None:
    with pytest.raises(WardroundError, match=r"no such file; make one, once: openssl ecparam .* -out .*new.key"):
        private_key(tmp_path / "new.key", str)
    (tmp_path / "junk.key").write_text("junk")
    (tmp_path / "other.pub").write_text("of a key that was moved")
    for file in ("junk.key", "other.key"):
        with pytest.raises(WardroundError, match="--key") as caught:
            private_key(tmp_path / file, str)
        assert "openssl" not in str(caught.value)


def test_whoever_checks_a_signature_is_told_to_ask_for_the_key(keys: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "junk.pub").write_text("junk")
    for file, found in (
        (keys[0], "a private one"),
        (tmp_path / "none.pub", "No such file"),
        (tmp_path / "junk.pub", ""),
    ):
        with pytest.raises(WardroundError, match=f"found {found}.*; ask whoever signs releases") as caught:
            public_key(file)
        assert "ecparam" not in str(caught.value)


def test_an_encrypted_key_asks_for_its_password(keys: tuple[Path, Path], tmp_path: Path) -> None:
    locked = tmp_path / "locked.key"
    openssl("ec", "-in", str(keys[0]), "-aes256", "-passout", "pass:secret", "-out", str(locked))
    assert private_key(locked, lambda: "secret").public_key() == private_key(keys[0], str).public_key()
    with pytest.raises(WardroundError, match="and its password"):
        private_key(locked, lambda: "wrong")
