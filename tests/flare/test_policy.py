"""What a job may build at a site, asked of FLARE's own authoriser."""

import json
from pathlib import Path

import pytest
from nvflare.apis.fl_exception import UnsafeComponentError
from nvflare.apis.workspace import Workspace
from nvflare.app_common.default_component_policy import DEFAULT_CLASS_ALLOW_LIST
from nvflare.app_common.widgets.component_path_authorizer import ComponentPathAuthorizer

from wardround.flare.policy import SERVER_CLASSES, SITE_CLASSES, classes_of, resources, write_resources

Kits = dict[str, Workspace]
APP, OPT = "nvflare.app_common", "nvflare.app_opt"
OF_FLARE = [  # each of them in FLARE's own default list, but for the first
    f"{APP}.executors.client_api_executor.ClientAPIExecutor",  # would run any command
    f"{APP}.ccwf.client_controller_executor.ClientControllerExecutor",
    f"{APP}.ccwf.cse_client_ctl.CrossSiteEvalClientController",  # gives a site's model to another
    f"{APP}.ccwf.CrossSiteEvalClientController",
    f"{APP}.ccwf.cyclic_client_ctl.CyclicClientController",
    f"{APP}.ccwf.swarm_client_ctl.SwarmClientController",
    f"{APP}.executors.model_learner_executor.ModelLearnerExecutor",
    f"{APP}.executors.statistics.statistics_executor.StatisticsExecutor",
    f"{APP}.psi.psi_executor.PSIExecutor",
    f"{OPT}.psi.dh_psi.dh_psi_task_handler.DhPSITaskHandler",
    f"{APP}.np.np_trainer.NPTrainer",
    f"{APP}.ccwf.comps.np_trainer.NPTrainer",
    f"{APP}.widgets.convert_to_fed_event.ConvertToFedEvent",  # sends events past filters and the outbox
    f"{APP}.logging.job_log_streamer.JobLogStreamer",
    f"{APP}.filters.exclude_vars.ExcludeVars",
    f"{OPT}.xgboost.histogram_based.executor.FedXGBHistogramExecutor",
    f"{OPT}.xgboost.histogram_based_v2.fed_executor.FedXGBHistogramExecutor",
    f"{OPT}.xgboost.histogram_based_v2.csv_data_loader.CSVDataLoader",
    f"{OPT}.xgboost.tree_based.executor.FedXGBTreeExecutor",
    f"{OPT}.tracking.mlflow.mlflow_writer.MLflowWriter",
    f"{APP}.workflows.scatter_and_gather.ScatterAndGather",
    f"{APP}.workflows.statistics_controller.StatisticsController",
    f"{APP}.workflows.cross_site_model_eval.CrossSiteModelEval",
]


@pytest.fixture
def kits(tmp_path: Path) -> Kits:
    found = {}
    for role in ("server", "site"):
        for part in ("startup", "local"):
            (tmp_path / role / part).mkdir(parents=True)
        write_resources(tmp_path / role / "local", classes_of(role))
        found[role] = Workspace(str(tmp_path / role), role)
    return found


def _authorise(workspace: Workspace, path: str) -> None:
    ComponentPathAuthorizer().authorize_component_config({"path": path}, workspace=workspace)


@pytest.mark.parametrize("role", ["server", "site"])
def test_what_a_studys_job_consists_of_may_be_built_where_it_runs_and_nowhere_else(kits: Kits, role: str) -> None:
    other = "site" if role == "server" else "server"
    for path in classes_of(role):
        _authorise(kits[role], path)
        with pytest.raises(UnsafeComponentError, match="not in allow_list"):
            _authorise(kits[other], path)


@pytest.mark.parametrize("role", ["server", "site"])
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
        *OF_FLARE,
    ],
)
def test_anything_else_is_refused_flares_own_executors_and_what_our_modules_import_included(
    kits: Kits, role: str, path: str
) -> None:
    with pytest.raises(UnsafeComponentError, match="not in allow_list"):
        _authorise(kits[role], path)


@pytest.mark.parametrize("role", ["server", "site"])
def test_all_that_flare_lists_by_default_is_refused_but_two_writers_of_the_servers(kits: Kits, role: str) -> None:
    """Whatever another version of FLARE adds to its list."""
    listed = set(DEFAULT_CLASS_ALLOW_LIST)
    assert len(listed.intersection(OF_FLARE)) == len(OF_FLARE) - 1
    for path in listed - set(classes_of(role)):
        with pytest.raises(UnsafeComponentError, match="not in allow_list"):
            _authorise(kits[role], path)
    assert len(listed.intersection(classes_of(role))) == (2 if role == "server" else 0)


def test_every_class_in_the_list_exists_and_is_named_exactly() -> None:
    for path in (*SERVER_CLASSES, *SITE_CLASSES):
        module, _, name = path.rpartition(".")
        cls = getattr(__import__(module, fromlist=[name]), name)
        assert isinstance(cls, type)
        assert cls.__module__ == module  # defined there, not imported


def test_what_the_site_has_set_is_kept_and_log_streaming_is_off(tmp_path: Path) -> None:
    default = {"format_version": 2, "servers": ["x"], "allow_log_streaming": True, "class_allow_list": ["wardround."]}
    (tmp_path / "resources.json.default").write_text(json.dumps(default))
    written = json.loads(write_resources(tmp_path, SITE_CLASSES).read_text())
    assert written["servers"] == ["x"]
    assert written["allow_log_streaming"] is False
    assert written["class_allow_list"] == list(SITE_CLASSES)
    assert resources(written, SITE_CLASSES) == written
