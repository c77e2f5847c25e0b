"""The job folder that leaves for a FLARE server: configuration, and no code."""

import json
from pathlib import Path

import pytest
from nvflare.apis.fl_constant import ConfigVarName
from nvflare.app_opt.pt.decomposers import TensorDecomposer

from support.fake_workload import make_study
from wardround.flare.environments import export_job
from wardround.flare.line_waits import ANSWER_SECONDS
from wardround.flare.policy import SERVER_CLASSES, SITE_CLASSES
from wardround.records.reasons import WardroundError
from wardround.records.study import Study, load_study


@pytest.fixture
def job(tmp_path: Path) -> tuple[Study, Path]:
    study = make_study(federation={"quorum": 3, "round_deadline_seconds": 77})
    return study, export_job(tmp_path / "jobs", study, tmp_path / "a folder")


def test_the_job_holds_no_code_and_asks_for_the_quorum(job: tuple[Study, Path]) -> None:
    study, folder = job
    assert folder.name == study.name
    assert not list(folder.rglob("*.py"))
    assert not list(folder.rglob("custom"))
    assert json.loads((folder / "meta.json").read_text())["min_clients"] == 3


def test_the_gpus_that_a_study_wants_are_asked_of_each_site(tmp_path: Path, job: tuple[Study, Path]) -> None:
    folder = export_job(tmp_path, make_study(federation={"quorum": 3, "gpus": 2}), tmp_path / "wanting")
    assert json.loads((folder / "meta.json").read_text())["resource_spec"] == {"@default": {"num_of_gpus": 2}}
    assert not json.loads((job[1] / "meta.json").read_text())["resource_spec"]


def test_a_study_that_no_site_would_read_makes_no_job(tmp_path: Path) -> None:
    """Set in Python, where pydantic checks no copy."""
    study = make_study(federation={"quorum": 3})
    waits = study.federation.model_copy(update={"round_deadline_seconds": 30})
    with pytest.raises(WardroundError, match="grace_period_seconds 30 does nothing with round_deadline_seconds 30"):
        export_job(tmp_path / "jobs", study.model_copy(update={"federation": waits}), tmp_path / "out")


def test_the_study_travels_whole_to_server_and_sites(job: tuple[Study, Path]) -> None:
    study, folder = job
    copies = list(folder.rglob("job.yaml"))
    assert copies
    assert all(load_study(copy).digest() == study.digest() for copy in copies)


def test_server_and_sites_build_the_classes_that_they_allow_and_no_others_and_no_setting_is_a_component_argument(
    job: tuple[Study, Path],
) -> None:
    for kind, classes in {"server": SERVER_CLASSES, "client": SITE_CLASSES}.items():
        (file,) = job[1].rglob(f"config_fed_{kind}.json")
        assert _paths(json.loads(file.read_text())) == set(classes)


def test_every_training_site_is_asked_and_polling_is_quick(job: tuple[Study, Path]) -> None:
    (file,) = job[1].rglob("config_fed_server.json")
    server = json.loads(file.read_text())
    (workflow,) = server["workflows"]
    assert workflow["args"]["task_check_period"] == 0.05
    assert workflow["args"]["ignore_result_error"] is True
    assert workflow["args"]["num_rounds"] == 3
    assert server["server"]["task_request_interval"] == 0.05


@pytest.mark.parametrize("side", ["server", "client"])
def test_a_chunk_of_weights_that_was_lost_is_asked_for_again_soon(job: tuple[Study, Path], side: str) -> None:
    (file,) = job[1].rglob(f"config_fed_{side}.json")
    name = TensorDecomposer()._config_var_name(ConfigVarName.STREAMING_PER_REQUEST_TIMEOUT)
    assert json.loads(file.read_text())[name] == ANSWER_SECONDS


def _paths(node: object) -> set[str]:
    if isinstance(node, list):
        return {path for child in node for path in _paths(child)}
    if isinstance(node, dict):
        own = {node["path"]} if isinstance(node.get("path"), str) else set()
        return own | {path for child in node.values() for path in _paths(child)}
    return set()
