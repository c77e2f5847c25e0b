"""What a job may build at a site, asked of FLARE's own authoriser."""

import json
from pathlib import Path

import pytest
from nvflare.apis.fl_exception import UnsafeComponentError
from nvflare.apis.workspace import Workspace
from nvflare.app_common.widgets.component_path_authorizer import ComponentPathAuthorizer

from wardround.flare.policy import OUR_CLASSES, resources, write_resources


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    for part in ("startup", "local"):
        (tmp_path / part).mkdir()
    write_resources(tmp_path / "local")
    return Workspace(str(tmp_path), "hospital-a")


@pytest.mark.parametrize(
    "path", [*OUR_CLASSES, "nvflare.app_common.widgets.metrics_artifact_writer.MetricsArtifactWriter"]
)
def test_our_classes_and_flares_own_may_be_built(workspace: Workspace, path: str) -> None:
    ComponentPathAuthorizer().authorize_component_config({"path": path}, workspace=workspace)


@pytest.mark.parametrize(
    "path",
    [
        "wardround.flare.executor.load_study",  # re-exported by a module of ours
        "wardround.flare.executor.Path",
        "wardround.flare.environments.shutil.rmtree",
        "wardround.flare.workspace.shutil.rmtree",
        "wardround.flare.executor.SiteExecutorX",
        "wardround.records.files.write_whole",
        "shutil.rmtree",
        "nvflare.app_common.executors.client_api_executor.ClientAPIExecutor",  # would run any command
    ],
)
def test_anything_else_is_refused_functions_that_our_modules_import_included(workspace: Workspace, path: str) -> None:
    with pytest.raises(UnsafeComponentError, match="not in allow_list"):
        ComponentPathAuthorizer().authorize_component_config({"path": path}, workspace=workspace)


def test_every_class_in_the_list_exists_and_is_named_exactly() -> None:
    for path in OUR_CLASSES:
        module, _, name = path.rpartition(".")
        cls = getattr(__import__(module, fromlist=[name]), name)
        assert isinstance(cls, type)
        assert cls.__module__ == module  # defined there, not imported


def test_what_the_site_has_set_is_kept_and_log_streaming_is_off(tmp_path: Path) -> None:
    default = {"format_version": 2, "servers": ["x"], "allow_log_streaming": True, "class_allow_list": ["wardround."]}
    (tmp_path / "resources.json.default").write_text(json.dumps(default))
    written = json.loads(write_resources(tmp_path).read_text())
    assert written["servers"] == ["x"]
    assert written["allow_log_streaming"] is False
    assert "wardround." not in written["class_allow_list"]
    assert resources(written) == written
