"""Images go to a hospital as a signed folder, and load there without a network, or not at all."""

import os
import subprocess
from pathlib import Path

import pytest

from support.containers import ROOT, docker, image, inspected
from support.documentation import blocks_under
from support.shell import Shell

pytestmark = pytest.mark.images

ARCHIVE, LOAD = blocks_under("docs/containers.md", "Carry them to a hospital")
# for docker/archive.sh, where it does not matter what the images are: gigabytes less to write, hash and copy
_TINY_ENGINE = """#!/bin/sh
case "$1" in
save) echo images >"$3" ;;
*) echo sha256:0123 ;;
esac
"""


def _run(*command: str | Path, engine: str = "docker") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "ENGINE": engine},
    )


def _key(folder: Path, name: str) -> tuple[Path, Path]:
    private, public = folder / f"{name}.key", folder / f"{name}.pub"
    assert _run("openssl", "ecparam", "-genkey", "-noout", "-name", "prime256v1", "-out", private).returncode == 0
    assert _run("openssl", "ec", "-in", private, "-pubout", "-out", public).returncode == 0
    return private, public


@pytest.fixture
def signed(tmp_path: Path) -> tuple[Path, Path]:
    """An archive's folder and its public key."""
    engine = tmp_path / "engine"
    engine.write_text(_TINY_ENGINE, encoding="utf-8")
    engine.chmod(0o755)
    private, public = _key(tmp_path, "images")
    done = _run(ROOT / "docker" / "archive.sh", private, tmp_path / "archive", engine=str(engine))
    assert done.returncode == 0, done.stderr
    return tmp_path / "archive", public


def test_a_signed_archive_loads_and_each_image_has_the_id_that_was_signed(tmp_path: Path) -> None:
    shell = Shell(tmp_path, ["docker", "pyproject.toml"])
    shell.run(ARCHIVE)
    before = inspected(image("parent"), "image")["Id"]
    docker("image", "rm", "--force", image("parent"))
    loaded = shell.run(LOAD)
    assert loaded == (tmp_path / "wardround-images" / "images.txt").read_text(encoding="utf-8")
    assert inspected(image("parent"), "image")["Id"] == before
    # the id is a pin: the engine takes it wherever a name may stand, study_runtime.yaml included
    assert docker("run", "--rm", before, "python", "-c", "print('pinned')").strip() == "pinned"
    (tmp_path / "wardround-images" / "images.tar").unlink()  # pytest keeps folders, and this one has gigabytes


def test_a_folder_signed_by_another_is_not_loaded(signed: tuple[Path, Path], tmp_path: Path) -> None:
    _, other = _key(tmp_path, "other")
    refused = _run(ROOT / "docker" / "load.sh", other, signed[0], engine="must-not-be-asked")
    assert refused.returncode == 1
    assert "not made with the key that belongs to" in refused.stderr


@pytest.mark.parametrize("name", ["images.tar", "images.txt"])
def test_a_folder_with_a_changed_file_is_not_loaded(signed: tuple[Path, Path], name: str) -> None:
    folder, public = signed
    with (folder / name).open("ab") as stream:
        stream.write(b"\n")
    refused = _run(ROOT / "docker" / "load.sh", public, folder, engine="must-not-be-asked")
    assert refused.returncode == 1
    assert "files differ from what was signed" in refused.stderr
