"""Startup kits as FLARE provisions them, for the tests of every part that reads one."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

from support.provisioned import CONFIGS, provision
from wardround.flare.install import install_folder


class _BySharedSystem(LoadScopeScheduling):
    """Gives the tests of a file to one process, and those of tests/e2e/production/, which share one consortium."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.split("::")[0]
        return str(Path(file).parent) if "/e2e/production/" in file else file


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling | None:
    """With `--dist loadscope` only; xdist's own loadgroup sees no groups with this pytest."""
    return _BySharedSystem(config, log) if config.getvalue("dist") == "loadscope" else None


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
