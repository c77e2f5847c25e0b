"""Images go to a hospital as a signed folder, and load there without a network, or not at all."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from support.containers import ROOT, docker, image, inspected
from support.documentation import blocks_under
from support.shell import Shell

pytestmark = pytest.mark.images


def _run(*command: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=900, cwd=cwd)


def _key(folder: Path, name: str) -> tuple[Path, Path]:
    private, public = folder / f"{name}.key", folder / f"{name}.pub"
    assert _run("openssl", "ecparam", "-genkey", "-noout", "-name", "prime256v1", "-out", private).returncode == 0
    assert _run("openssl", "ec", "-in", private, "-pubout", "-out", public).returncode == 0
    return private, public


ARCHIVE, LOAD = blocks_under("docs/containers.md", "Carry them to a hospital")


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    shell = Shell(tmp_path_factory.mktemp("archive"), ["docker", "pyproject.toml"])
    shell.run(ARCHIVE)
    return shell


@pytest.fixture(scope="module")
def signed(shell: Shell) -> tuple[Path, Path]:
    """The archive's folder and the public key."""
    return shell.folder / "wardround-images", shell.folder / "images.pub"


def test_a_signed_archive_loads_and_each_image_has_the_id_that_was_signed(shell: Shell) -> None:
    before = inspected(image("parent"), "image")["Id"]
    docker("image", "rm", "--force", image("parent"))
    loaded = shell.run(LOAD)
    assert loaded == (shell.folder / "wardround-images" / "images.txt").read_text(encoding="utf-8")
    assert inspected(image("parent"), "image")["Id"] == before
    # the id is a pin: the engine takes it wherever a name may stand, study_runtime.yaml included
    assert docker("run", "--rm", before, "python", "-c", "print('pinned')").strip() == "pinned"


def test_a_folder_signed_by_another_is_not_loaded(signed: tuple[Path, Path], tmp_path: Path) -> None:
    _, other = _key(tmp_path, "other")
    refused = _run(ROOT / "docker" / "load.sh", other, signed[0])
    assert refused.returncode == 1
    assert "not made with the key that belongs to" in refused.stderr


@pytest.mark.parametrize("name", ["images.tar", "images.txt"])
def test_a_folder_with_a_changed_file_is_not_loaded(signed: tuple[Path, Path], tmp_path: Path, name: str) -> None:
    folder, public = signed
    for file in folder.iterdir():
        if file.name != name:
            os.link(file, tmp_path / file.name)
    shutil.copyfile(folder / name, tmp_path / name)
    with (tmp_path / name).open("ab") as stream:
        stream.write(b"\n")
    refused = _run(ROOT / "docker" / "load.sh", public, tmp_path)
    assert refused.returncode == 1
    assert "files differ from what was signed" in refused.stderr
