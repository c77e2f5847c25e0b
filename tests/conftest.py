"""Startup kits as FLARE provisions them, for the tests of every part that reads one."""

import shutil
from pathlib import Path

import pytest

from support.provisioned import CONFIGS, provision
from wardround.flare.install import install_folder


@pytest.fixture(scope="module")
def kits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The kits of the shipped project; copy one before changing it."""
    return provision(tmp_path_factory.mktemp("kits"))


@pytest.fixture
def kit(kits: Path, tmp_path: Path) -> Path:
    """hospital-a's kit, with the shipped folder installed."""
    folder = Path(shutil.copytree(kits / "hospital-a", tmp_path / "hospital-a"))
    install_folder(folder, CONFIGS / "hospital-a")
    return folder
