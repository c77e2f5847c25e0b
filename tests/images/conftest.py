import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.containers import docker, image, inspected

_TORCH = "import torch; print(torch.__version__, torch.version.cuda, torch.cuda.is_available())"


@pytest.fixture(scope="session", autouse=True)
def _engine() -> None:
    """These tests have nothing to say without an engine: they fail, they are not skipped."""
    docker("info")


@pytest.fixture(scope="module")
def shared_folder() -> Iterator[Path]:
    """A folder that an engine's containers reach under another user: pytest's own are closed to others."""
    folder = Path(tempfile.mkdtemp(prefix="wardround-images-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What stood in for the real thing here, so that nobody takes these results for more than they are."""
    reports = [one for kind in ("passed", "failed") for one in terminalreporter.stats.get(kind, [])]
    if not any(one.nodeid.startswith("tests/images/test_images.py") for one in reports):
        return
    base = inspected(image("tabular"), "image")["Config"]["Labels"].get("org.opencontainers.image.base.name")
    version, cuda, sees_gpu = docker("run", "--rm", image("tabular"), "python", "-c", _TORCH).split()[-3:]
    terminalreporter.section("what these images were tested with")
    stand_in = " (a stand-in: no registry was at hand)" if base.startswith("localhost/") else ""
    terminalreporter.write_line(f"base image   {base}{stand_in}")
    terminalreporter.write_line(f"torch        {version}{' (a stand-in: the CPU build)' if cuda == 'None' else ''}")
    terminalreporter.write_line(f"GPU          {'one' if sees_gpu == 'True' else 'none: nothing here ran on a GPU'}")
    rootless = "ROOTLESS_DOCKER_HOST" in os.environ
    terminalreporter.write_line(f"rootless     {'tried' if rootless else 'not tried: ROOTLESS_DOCKER_HOST is not set'}")
