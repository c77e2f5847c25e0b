"""After the last round: the last model on validation, the choice of the best, then every arm on the test split."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nvflare.apis.dxo import DXO, DataKind
from nvflare.app_common.abstract.fl_model import FLModel
from nvflare.app_common.app_constant import AppConstants
from nvflare.app_common.app_event_type import AppEventType
from pydantic import ValidationError
from torch import Tensor

from wardround.flare import messages
from wardround.records.arms import (
    AGAINST_ALONE,
    ALONE,
    BEST,
    LAST,
    PERSONALISED,
    RECALIBRATED,
    REFERENCE,
    alone_at,
)
from wardround.records.metric_record import value_of
from wardround.records.orders import Reply
from wardround.records.reasons import Reason, WardroundError
from wardround.records.run_lines import DifferenceLine, ScoreLine
from wardround.workloads.registry import make_workload

if TYPE_CHECKING:
    from wardround.flare.controller import RoundController


@dataclass
class Model:
    """A model to score: a global one, or, without entries, one that each site makes of its own data."""

    arm: str
    model_round: int | None
    shared: dict[str, Tensor] | None = field(repr=False)


def score_last_on_validation(controller: "RoundController", last: Model) -> dict[str, float | None]:
    """The last aggregate's key figure by training site: it has to compete with the rounds before it."""
    replies = _ask(controller, last, "validation", controller.enrolled.train_sites)
    key = controller.study.evaluation.key_metric
    return {site: value_of(reply.records, key) for site, reply in replies.items()}


def score_arms(controller: "RoundController", best: Model, last: Model) -> None:
    """Every arm on every site's test split; an outside hospital has no model of its own, only best and last."""
    everyone, training = sorted(controller.enrolled.roles), controller.enrolled.train_sites
    evaluation = controller.study.evaluation
    _ask(controller, best, "test", everyone)
    if evaluation.personalise_steps:
        _ask(controller, Model(PERSONALISED, best.model_round, best.shared), "test", training)
    if evaluation.recalibrate:
        _ask(controller, Model(RECALIBRATED, best.model_round, best.shared), "test", training)
    _ask(controller, last, "test", everyone)
    if evaluation.compare_alone:
        one_model = best.model_round == last.model_round
        for arm in (ALONE, *(order for order, of in AGAINST_ALONE.items() if of == BEST or not one_model)):
            _ask(controller, Model(arm, None, None), "test", training, rounds=controller.num_rounds)
    if make_workload(controller.study).has_reference:
        _ask(controller, Model(REFERENCE, None, None), "test", training)


def model(arm: str, model_round: int, shared: dict[str, Tensor]) -> Model:
    """`best` or `last`."""
    assert arm in (BEST, LAST)
    return Model(arm, model_round, shared)


def _ask(
    controller: "RoundController", scored: Model, split: str, sites: Iterable[str], *, rounds: int = 1
) -> dict[str, Reply]:
    """Waits for as long as that many rounds may take."""
    replies: dict[str, Reply] = {}
    failed: dict[str, str] = {}

    def receive(answer: FLModel) -> None:
        site = str((answer.meta or {}).get("client_name"))
        try:
            reply = Reply.model_validate((answer.meta or {}).get(messages.KEY))
        except ValidationError:
            reply = Reply(error=Reason.REPLY_INVALID)
        if reply.error is not None:
            failed[site] = reply.error
            raise WardroundError(reply.error, f"{site}: no scores")
        replies[site] = reply

    order = controller.order(controller.num_rounds, scored.model_round or 0, arm=scored.arm, split=split)
    late = controller.exchange.ask(
        messages.VALIDATE,
        order,
        sites,
        receive,
        deadline=rounds * controller.study.federation.round_deadline_seconds,
        params=scored.shared,
    )
    failed |= dict.fromkeys(late, Reason.LATE) | controller.exchange.lost
    for site, reason in sorted(failed.items()):
        controller.record.incomplete(f"{site}: no {split} scores of {scored.arm} ({reason})")
    for site, reply in sorted(replies.items()):
        if not reply.records:
            controller.record.incomplete(f"{site}: no {split} scores of {scored.arm} ({Reason.METRICS_MISSING})")
        if arm := AGAINST_ALONE.get(scored.arm):
            controller.record.difference(
                DifferenceLine(arm=arm, reference=alone_at(site), split=split, site=site, records=reply.records)
            )
            continue
        controller.record.score(
            ScoreLine(
                arm=alone_at(site) if scored.arm == ALONE else scored.arm,
                split=split,
                site=site,
                role=controller.enrolled.roles[site],
                model_round=scored.model_round,
                records=reply.records,
                tallies=reply.tallies,
                cohorts=reply.cohorts,
                alerts=reply.alerts,
                notes=reply.notes,
                suppressed=reply.suppressed,
            )
        )
        _tell_flare(controller, site, scored.arm if split == "test" else f"{scored.arm}_{split}", reply)
    return replies


def _tell_flare(controller: "RoundController", site: str, arm: str, reply: Reply) -> None:
    """FLARE's cross_val_results.json is written from this event; without it the file stays empty."""
    dxo = DXO(DataKind.METRICS, data=messages.metrics(reply.records))
    context = controller.fl_ctx
    context.set_prop(AppConstants.MODEL_OWNER, arm, private=True, sticky=False)
    context.set_prop(AppConstants.DATA_CLIENT, site, private=True, sticky=False)
    context.set_prop(AppConstants.VALIDATION_RESULT, dxo.to_shareable(), private=True, sticky=False)
    controller.event(AppEventType.VALIDATION_RESULT_RECEIVED)
