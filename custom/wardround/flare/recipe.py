"""StudyRecipe: a study as a FLARE job. The job is configuration only; the code is what each site has installed."""

import tempfile
from pathlib import Path
from typing import Any

import yaml
from nvflare.apis.job_def import ALL_SITES
from nvflare.app_common.widgets.metrics_artifact_writer import MetricsArtifactWriter
from nvflare.app_common.widgets.validation_json_generator import ValidationJsonGenerator
from nvflare.job_config.api import FedJob
from nvflare.recipe.spec import Recipe

from wardround.flare import messages
from wardround.flare.aggregator import UpdateAggregator
from wardround.flare.continuation import Continuation
from wardround.flare.controller import RoundController
from wardround.flare.executor import SiteExecutor
from wardround.flare.line_waits import CHUNKS
from wardround.flare.persistor import CheckpointPersistor
from wardround.flare.selector import FixedSitesSelector
from wardround.records.schema_faults import validated
from wardround.records.server_state import FOLDER
from wardround.records.study import Study

# FLARE's default costs 2 s a round in polling
_SERVER_SETTINGS: dict[str, Any] = {"server": {"task_request_interval": 0.05}, **CHUNKS}
_CLIENT_SETTINGS: dict[str, Any] = {"default_task_fetch_interval": 0.05, **CHUNKS}
_TASK_CHECK_PERIOD = 0.05
_EACH_SITE = "@default"  # FLARE's word
_ONE_MACHINE = ("sim", "poc")  # where sites share GPUs, so nobody sets any aside


class StudyRecipe(Recipe):
    """The FLARE job of a study, for every environment.

    Args:
        study: the study, overrides applied; it travels as `config/job.yaml`, which is not code.
        sites: names that should take part. Empty: whoever is connected, which a continuation cannot ask for.
        run_name: see `RoundController`.
        environment: see `RoundController`.
        continuation: what the job goes on with. Its checkpoint, which holds every site's figures, is configuration
            of the server's app; the sites get an app of their own each, since FLARE sends a common one to all.

    Raises:
        WardroundError: the study is none that the server and the sites would read: settings that were set in Python
            have passed no check.
    """

    def __init__(
        self,
        study: Study,
        *,
        sites: list[str] | None = None,
        run_name: str = "",
        environment: str = "flare",
        continuation: Continuation | None = None,
    ) -> None:
        settings = study.model_dump(mode="json")
        validated(Study, settings, "the study")
        # not FLARE's BaseFedJob, which lets each site turn events of the job's choice into messages past filters
        job = FedJob(name=study.name, min_clients=study.federation.quorum)
        job.to_server(ValidationJsonGenerator(), id="json_generator")
        job.to_server(FixedSitesSelector(), id="model_selector")
        job.to_server(MetricsArtifactWriter(), id="metrics_artifact_writer")
        if study.federation.gpus and environment not in _ONE_MACHINE:
            job.job.meta_props = {"resource_spec": {_EACH_SITE: {"num_of_gpus": study.federation.gpus}}}
        job.set_app_packages(["wardround"])
        # FLARE copies the file when it writes the job, so it has to live as long as the recipe
        self._folder = tempfile.TemporaryDirectory(prefix="wardround-")
        self._study_file = Path(self._folder.name) / "job.yaml"
        self._study_file.write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")
        job.add_file_to_server(str(self._study_file), app_folder_type="config")
        self._targets = sorted(sites or []) if continuation else [ALL_SITES]
        if continuation is not None:
            checkpoint = Path(self._folder.name) / FOLDER
            continuation.copy_to(checkpoint)
            job.add_file_to_server(str(checkpoint), dest_dir=FOLDER, app_folder_type="config")
        job.to_server(CheckpointPersistor(), id="persistor")
        controller = RoundController(
            aggregator=UpdateAggregator(),
            num_rounds=study.training.rounds,
            ignore_result_error=True,
            task_check_period=_TASK_CHECK_PERIOD,
            expected_sites=sorted(sites or []),
            run_name=run_name,
            environment=environment,
            left_out=sorted(continuation.left_out) if continuation else [],
            resumed_because=continuation.because if continuation else "",
        )
        job.to_server(controller)
        job.to_server(_SERVER_SETTINGS)
        super().__init__(job)

    def _prepare_client_apps(self) -> None:
        for target in self._targets:
            self._job.to(SiteExecutor(), target, tasks=messages.TASKS)
            self._job.to(_CLIENT_SETTINGS, target)
            self._job.add_file_to(str(self._study_file), target, app_folder_type="config")
