"""Versions of the kit, this machine, and the images that an engine has."""

from pathlib import Path

import pytest

import wardround
from support.provisioned import CONFIGS, edit, nvflare
from wardround.flare.install import install_folder
from wardround.flare.installation import read_installation
from wardround.flare.kit import read_kit
from wardround.flare.versions import check_images, check_versions


def test_a_kit_of_another_version_is_told(kit: Path) -> None:
    edit(kit / "local" / "wardround.json", f'"version": "{wardround.__version__}"', '"version": "0.0.1"')
    found = check_versions(read_installation(kit))
    assert found.status == "failed"
    assert "installed with wardround 0.0.1" in found.text


def test_a_kit_of_other_code_of_the_same_version_is_told(kit: Path) -> None:
    installed = read_installation(kit)
    assert installed is not None
    assert check_versions(installed).status == "ok"
    found = check_versions(installed.model_copy(update={"code": "ab" * 32}))
    assert found.status == "warning"
    assert "installed with code abababababab of the same version" in found.text
    assert check_versions(installed.model_copy(update={"code": None})).status == "ok"  # an earlier record has none


@pytest.mark.parametrize(
    ("labels", "status", "text"),
    [
        (f'{{"org.opencontainers.image.version": "{wardround.__version__}"}}', "ok", "revision unknown"),
        (
            f'{{"org.opencontainers.image.version": "{wardround.__version__}", '
            '"org.opencontainers.image.revision": "0123456789abcdef"}',
            "ok",
            "revision 0123456789ab",
        ),
        ('{"org.opencontainers.image.version": "9.9"}', "failed", "of version 9.9, expected"),
        ("null", "failed", "of version None"),
        ("", "failed", "not on this machine"),
    ],
)
def test_images_are_asked_of_the_engine(
    kits: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, labels: str, status: str, text: str
) -> None:
    kit = tmp_path / "kit"
    config = str(CONFIGS / "hospital-a" / "docker.yaml")
    nvflare(tmp_path / "home", "deploy", "prepare", str(kits / "hospital-a"), "--config", config, "--output", str(kit))
    install_folder(kit, CONFIGS / "hospital-a")
    programs = tmp_path / "bin"
    programs.mkdir()
    monkeypatch.setenv("PATH", str(programs))
    found = check_images(read_kit(kit), read_installation(kit))
    assert (found.status, found.text.split(" wardround/")[0]) == ("skipped", "no engine here to look at")
    for target in ("parent", "imaging", "tabular"):
        assert f"wardround/{target}:{wardround.__version__}" in found.text
    engine = programs / "docker"
    answer = f"echo '{labels}'" if labels else "echo No such image >&2; exit 1"
    engine.write_text(f"#!/bin/sh\n{answer}\n")
    engine.chmod(0o755)
    found = check_images(read_kit(kit), read_installation(kit))
    assert found.status == status
    assert text in found.text
    if status == "ok":
        rebuilt = f'echo \'{labels[:-1]}, "org.opencontainers.image.revision": "ffff"}}\''
        engine.write_text(f"#!/bin/sh\ncase $* in *tabular*) {rebuilt};; *) {answer};; esac\n")
        found = check_images(read_kit(kit), read_installation(kit))
        assert found.status == "warning"
        assert f"wardround/tabular:{wardround.__version__} ffff" in found.text
