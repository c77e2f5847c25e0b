"""A run to release, and a key."""

from pathlib import Path

import pytest

from support.made_release import key_pair, run_folder


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A finished run, below the working folder."""
    monkeypatch.chdir(tmp_path)
    return run_folder(tmp_path / "results" / "brain_tumor" / "first")


@pytest.fixture
def keys(tmp_path: Path) -> tuple[Path, Path]:
    """A private and a public key."""
    return key_pair(tmp_path)
