"""One site's executor, spoken to in FLARE's terms."""

from pathlib import Path
from typing import Any

from nvflare.apis.fl_constant import ReturnCode
from nvflare.apis.shareable import Shareable
from nvflare.apis.signal import Signal
from nvflare.app_common.abstract.fl_model import FLModel, ParamsType
from nvflare.app_common.utils.fl_model_utils import FLModelUtils

from support.fake_workload import FakeWorkload, make_study
from support.loopback import site_executor
from wardround.flare import messages
from wardround.learners.initial import initial_shared_entries
from wardround.records.orders import Order, Reply
from wardround.records.study import Study

FEDBN = make_study(algorithm={"kind": "fedbn"})
PATIENT = "/data/patient-0042/t1c.nii.gz"


class Site:
    """One executor, spoken to in FLARE's terms."""

    def __init__(self, folder: Path, study: Study, **data: Any) -> None:
        self.study = study
        self.executor, self.context = site_executor(folder, study, "hospital-a", {"seed": 1, **data})
        self.shared = initial_shared_entries(FakeWorkload(), study)

    def ask(self, task: str, *, params: bool = True, meta: dict[str, Any] | None = None, **order: Any) -> Shareable:
        model = FLModel(
            params=dict(self.shared) if params else None,
            params_type=ParamsType.FULL if params else None,
            metrics=None if params else {},
            meta=messages.meta(Order(run="run", **order)) if meta is None else meta,
        )
        return self.executor.execute(task, FLModelUtils.to_shareable(model), self.context, Signal())


def reply_of(shareable: Shareable) -> Reply:
    assert shareable.get_return_code() == ReturnCode.OK
    return Reply.model_validate(FLModelUtils.from_shareable(shareable).meta[messages.KEY])
