"""A process that dies while it reads a case leaves the case's name behind."""

import subprocess
import sys
from pathlib import Path

from wardround.workloads.being_read import being_read, ended_while_read, forget

_DIES = """
import os, signal, sys
from pathlib import Path
from wardround.workloads.being_read import being_read
with being_read(Path(sys.argv[1]), "P-1"):
    pass
with being_read(Path(sys.argv[1]), "P-2"):
    os.kill(os.getpid(), signal.SIGKILL)
"""


def _die(cache: Path) -> None:
    done = subprocess.run([sys.executable, "-c", _DIES, str(cache)], check=False, timeout=60)
    assert done.returncode == -9


def test_the_case_at_which_a_process_died_is_known_until_it_is_read_whole(tmp_path: Path) -> None:
    assert ended_while_read(tmp_path) == []
    _die(tmp_path)
    assert ended_while_read(tmp_path) == ["P-2"]
    with being_read(tmp_path, "P-2"), being_read(tmp_path, "P-3"):
        assert ended_while_read(tmp_path) == []  # both are being read, by a process that lives
    assert ended_while_read(tmp_path) == []


def test_what_is_forgotten_is_no_longer_told(tmp_path: Path) -> None:
    _die(tmp_path)
    with being_read(tmp_path, "P-3"):
        forget(tmp_path)
        assert len(list((tmp_path / "being_read").iterdir())) == 1  # of the one that is being read
    assert ended_while_read(tmp_path) == []


def test_a_case_that_another_process_reads_too_is_read_all_the_same(tmp_path: Path) -> None:
    with being_read(tmp_path, "P-1"):
        with being_read(tmp_path, "P-1"):
            pass
        assert len(list((tmp_path / "being_read").iterdir())) == 1
    (tmp_path / "file").touch()
    with being_read(tmp_path / "file", "P-1"):  # no folder can be made there
        pass
