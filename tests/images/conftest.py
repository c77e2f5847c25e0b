import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.containers import docker


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
