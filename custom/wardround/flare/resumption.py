"""The start of a job that goes on with an earlier job's run: nothing is made anew but the sites' answers."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from nvflare.app_common.abstract.fl_model import FLModel
from torch import Tensor

from wardround.flare.enrolment import Enrolled, enrol
from wardround.flare.persistor import ROUND
from wardround.flare.server_checkpoint import ServerCheckpoint
from wardround.flare.standing import Standing
from wardround.records.code import code_facts
from wardround.records.reasons import Reason, WardroundError
from wardround.records.run_lines import ResumeLine
from wardround.records.server_state import ServerState, refuse_other_study
from wardround.records.versions import package_versions

if TYPE_CHECKING:
    from wardround.flare.controller import RoundController


def go_on(controller: "RoundController", standing: Standing, fresh: FLModel, earlier: ServerCheckpoint) -> FLModel:
    """Asks the sites to prepare once more, and takes up the run where the checkpoint has it.

    Args:
        controller: gets who is enrolled, what was acknowledged, and the record.
        standing: gets the best model and the counts.
        fresh: the study's initial model, whose names and shapes the checkpoint must have.
        earlier: the checkpoint.

    Returns:
        The model that the next round begins with.

    Raises:
        WardroundError: another run's or study's checkpoint, or as `enrol`.
    """
    state = earlier.state
    controller.record.restore(earlier.record, len(earlier.lines), state.partial, state.seconds)
    if state.run != controller.run_id():
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            f"checkpoint: of run {state.run}, and this job is of run {controller.run_id()}",
        )
    changed = refuse_other_study(state, controller.study)
    _refuse_other_entries(fresh.params, earlier.model)
    controller.acknowledged = dict(state.acknowledged)
    for site in controller.left_out:
        controller.record.incomplete(f"{site}: {Reason.LEFT_OUT}")
    # above 0: the initial model is made, and its sums are not asked for
    controller.enrolled = enrol(controller, earlier.model, first_round=max(1, state.rounds_done))
    for site in _other_data(state, controller.enrolled):
        controller.record.incomplete(f"{site}: {Reason.DATA_CHANGED}")
    standing.restore(earlier, controller.left_out)
    controller.record.resume(
        ResumeLine(
            time=datetime.now(UTC).isoformat(timespec="seconds"),
            round=state.rounds_done,
            because=controller.resumed_because,
            sites=[manifest for _, manifest in sorted(controller.enrolled.manifests.items())],
            missing=sorted(controller.enrolled.missing),
            left_out=sorted(controller.left_out),
            changed=changed,
            versions=package_versions(),
            code=code_facts(),
        ),
        controller.enrolled.missing,
    )
    if not standing.save(state.rounds_done, earlier.model):
        controller.record.incomplete(f"before round {state.rounds_done + 1}: {Reason.CHECKPOINT_NOT_WRITTEN}")
    return FLModel(params=dict(earlier.model), params_type=fresh.params_type, meta={ROUND: state.rounds_done})


def _refuse_other_entries(fresh: dict[str, Tensor], model: dict[str, Tensor]) -> None:
    def shapes(tensors: dict[str, Tensor]) -> dict[str, tuple[str, tuple[int, ...]]]:
        return {name: (str(tensor.dtype), tuple(tensor.shape)) for name, tensor in tensors.items()}

    if shapes(fresh) != shapes(model):
        unlike = sorted({name for name, _ in shapes(fresh).items() ^ shapes(model).items()})
        raise WardroundError(
            Reason.SHAPE_MISMATCH,
            f"checkpoint: {len(unlike)} entries (such as {unlike[0]}) are not those of the study's network",
        )


def _other_data(state: ServerState, enrolled: Enrolled) -> list[str]:
    before = {manifest.site: manifest.counts for manifest in state.manifests}
    return [
        site
        for site, manifest in sorted(enrolled.manifests.items())
        if site in before and manifest.counts != before[site]
    ]
