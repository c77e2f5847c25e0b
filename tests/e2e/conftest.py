"""Tiny hospitals for runs through real FLARE processes."""

import contextlib
import os
import uuid
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml

from wardround.records.study import Study
from wardround.workloads.brain_tumor.synth.writer import CaseCounts, write_hospitals

_LONGEST = "test_documentation.py"
_SESSION = ("WARDROUND_TEST_SESSION", uuid.uuid4().hex)
os.environ[_SESSION[0]] = _SESSION[1]


def left_over() -> list[psutil.Process]:
    """Living processes that these tests started: they carry this session's name in their environment."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.environ().get(_SESSION[0]) == _SESSION[1]:
                found.append(process)
    return found


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest file first, so that it is not what two processes wait for in the end."""
    items.sort(key=lambda item: item.path.name != _LONGEST)


@pytest.fixture(scope="session")
def hospitals(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """site.yaml of three hospitals that train and a fourth that is only scored. One keeps its state under a name that
    reads like a patient's, so that a path in an error can be looked for."""
    folder = tmp_path_factory.mktemp("hospitals")
    files = write_hospitals(folder, hospitals=4, size=24, cases=CaseCounts(3, 2, 2), seed=1)
    settings = yaml.safe_load(files[2].read_text())
    files[2].write_text(yaml.safe_dump({**settings, "state_folder": "patient-0042"}))
    return files


def tiny_study(**changes: Any) -> Study:
    """FedBN on a network of a few thousand parameters, two steps a round."""
    settings: dict[str, Any] = {
        "name": "tiny_study",
        "seed": 3,
        "workload": {
            "kind": "brain_tumor",
            "network": {"channels": [4, 8], "strides": [2]},
            "patch": {"size": [16, 16, 16]},
        },
        "algorithm": {"kind": "fedbn"},
        "training": {"rounds": 3, "local_steps": 2, "learning_rate": 0.01},
        "evaluation": {"key_metric": "dice_mean", "personalise_steps": 2},
        "federation": {"quorum": 2, "round_deadline_seconds": 300, "prepare_deadline_seconds": 300},
    }
    return Study.model_validate({**settings, **changes})
