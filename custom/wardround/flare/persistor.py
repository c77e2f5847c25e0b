"""CheckpointPersistor: the server's models as safetensors with a JSON card. Nothing is pickled."""

import logging
from pathlib import Path

from nvflare.apis.event_type import EventType
from nvflare.apis.fl_context import FLContext
from nvflare.app_common.abstract.model import ModelLearnable, ModelLearnableKey, make_model_learnable
from nvflare.app_common.abstract.model_persistor import ModelPersistor
from nvflare.app_opt.pt.decomposers import TensorDecomposer
from nvflare.fuel.utils import fobs
from torch import Tensor

from wardround.flare.server_checkpoint import CheckpointWriter, ServerCheckpoint, load_server_checkpoint
from wardround.learners.checkpoint import make_checkpoint, save_checkpoint
from wardround.learners.initial import initial_shared_entries
from wardround.records.arms import LAST
from wardround.records.server_state import FOLDER
from wardround.records.study import Study, load_study
from wardround.workloads.registry import make_workload
from wardround.workloads.workload import Workload

ROUND = "model_round"  # key in the learnable's meta
_log = logging.getLogger(__name__)


class CheckpointPersistor(ModelPersistor):
    """Makes the initial model from the study and keeps `models/best` and `models/last` in the run folder.

    FLARE calls `load_model` once and `save_model` after a round; the controller calls `save` with a name. What cannot
    be written, such as on a full disk, is no reason to end a run: it is named in `unwritten` and can be tried again.
    """

    def __init__(self) -> None:
        super().__init__()
        self.unwritten: set[str] = set()
        self._run_folder = Path()
        self._checkpoint = Path()
        self._study: Study | None = None
        self._workload: Workload | None = None

    def handle_event(self, event_type: str, fl_ctx: FLContext) -> None:
        """At the start, teaches FLARE to carry tensors and finds the study beside the job's configuration."""
        if event_type == EventType.START_RUN:
            fobs.register(TensorDecomposer)
            workspace, job = fl_ctx.get_engine().get_workspace(), fl_ctx.get_job_id()
            config = Path(workspace.get_app_config_dir(job))
            self.open(Path(workspace.get_run_dir(job)), load_study(config / "job.yaml"), config / FOLDER)

    def open(self, run_folder: Path, study: Study, checkpoint: Path | None = None) -> None:
        """Sets where models go, which study they belong to, and where a checkpoint to go on from would lie."""
        self._run_folder, self._study, self._workload = run_folder, study, make_workload(study)
        self._checkpoint = checkpoint or run_folder / "no-checkpoint"
        self.writer = CheckpointWriter(run_folder / FOLDER)

    @property
    def study(self) -> Study:
        """The study of this run."""
        assert self._study is not None
        return self._study

    def earlier(self) -> ServerCheckpoint | None:
        """What this job goes on from, if it came with a checkpoint.

        Raises:
            WardroundError: the checkpoint cannot be used.
        """
        return load_server_checkpoint(self._checkpoint) if self._checkpoint.is_dir() else None

    def load_model(self, fl_ctx: FLContext) -> ModelLearnable:  # noqa: ARG002
        """The initial global model: the shared entries of a fresh network under the study's seed."""
        assert self._workload is not None
        return make_model_learnable(weights=initial_shared_entries(self._workload, self.study), meta_props={ROUND: 0})

    def save_model(self, model: ModelLearnable, fl_ctx: FLContext) -> None:  # noqa: ARG002
        """Keeps what FLARE hands over as the last model."""
        meta = model.get(ModelLearnableKey.META) or {}
        self.store(LAST, model[ModelLearnableKey.WEIGHTS], int(meta.get(ROUND, 0)))

    def store(self, name: str, shared: dict[str, Tensor], model_round: int) -> None:
        """Writes `models/<name>.safetensors` and its card, each in one step."""
        checkpoint = make_checkpoint(shared, self.study, model_round=model_round, workload=self._workload)
        try:
            save_checkpoint(self._run_folder / "models" / name, checkpoint)
            self.unwritten.discard(name)
        except OSError as error:
            _log.error("%s: %s; it is tried again", self._run_folder / "models" / name, error.strerror)
            self.unwritten.add(name)
