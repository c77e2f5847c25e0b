"""A checkpoint that finds no room: the one before is whole, and nothing of the one that failed is left."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from support.fake_workload import make_study
from support.full_disk import Try, files_of_at_most, tries
from support.provisioned import ROOT
from wardround.flare.server_checkpoint import CheckpointWriter
from wardround.flare.standing import Standing

_OWN_MOUNTS = ["unshare", "--user", "--map-root-user", "--mount"]  # seen by no other process, gone with the last of it


def test_a_file_that_may_not_grow_leaves_the_checkpoint_before(tmp_path: Path) -> None:
    _assert_nothing_lost(tries(tmp_path, files_of_at_most), "EFBIG", at_least=5)


def test_a_disk_that_is_full_leaves_the_checkpoint_before(tmp_path: Path) -> None:
    """A real one, of 1 MiB, full but for 0 bytes, a page, two, and so on until there is room for all files.

    A machine that lets nobody mount has the limit on files above alone, and says so.
    """
    mounted = subprocess.run(
        [*_OWN_MOUNTS, "mount", "-t", "tmpfs", "-o", "size=64k", "none", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip(f"NOT TESTED: a disk that is full, since nobody may mount one here: {mounted.stderr.strip()}")
    done = subprocess.run(
        [*_OWN_MOUNTS, sys.executable, "-m", "support.full_disk", str(tmp_path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "tests"), str(ROOT / "custom")])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    # model, best, optimiser, record and state, one after the other, are what the disk has no room for
    _assert_nothing_lost([Try(**one) for one in json.loads(done.stdout)], "ENOSPC", at_least=12)
    assert not list(tmp_path.iterdir())  # it was all on that disk


def test_the_servers_log_names_the_folder_that_has_no_room(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    controller: Any = SimpleNamespace(study=make_study(), record=SimpleNamespace(content=lambda _line: b""))
    persistor: Any = SimpleNamespace(writer=CheckpointWriter(tmp_path), unwritten=set())
    with files_of_at_most(0):
        assert not Standing(controller, persistor, selector=None).save(2, {})  # type: ignore[arg-type]
    assert f"checkpoint after round 2: {tmp_path}: File too large; the one before stays good" in caplog.text


def _assert_nothing_lost(found: list[Try], error: str, *, at_least: int) -> None:
    *failed, last = found
    assert len(failed) >= at_least
    assert {one.error for one in failed} == {error}
    assert {one.newest for one in failed} == {1}
    assert [one.left_behind for one in failed] == [[]] * len(failed)
    assert (last.error, last.newest) == (None, 2)
    assert {one.file_error for one in found} == {error, None}
    assert [one.file for one in found] == ["new" if one.file_error is None else "old" for one in found]
