"""Scores a released model on a site's new cases, and compares their inputs with those that it was trained on."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from wardround.learners.checkpoint import Checkpoint
from wardround.learners.devices import usable_device
from wardround.learners.fill import fill_network
from wardround.metrics.stability import chance_index, chance_of_patients, index_of_shares, judged, stability_index
from wardround.records.acceptance_outcome import CriterionOutcome, check_at_site
from wardround.records.changed import changed
from wardround.records.input_statistics import InputShares, InputStatistics
from wardround.records.metric_record import find
from wardround.records.monitoring import CellShift, InputShift, Monitoring
from wardround.site.config import SiteConfig
from wardround.workloads.input_cells import InputColumn
from wardround.workloads.progress import Progress, unseen
from wardround.workloads.registry import workload_of
from wardround.workloads.site_data import SiteData

_SPLIT = "test"


def monitor(
    checkpoint: Checkpoint,
    criteria: Sequence[CriterionOutcome],
    statistics: InputStatistics | None,
    config: SiteConfig,
    *,
    version: str,
    release_sha256: str,
    signature: Literal["verified", "not_checked"],
    since: date | None = None,
    only: Sequence[str] = (),
    progress: Progress = unseen,
) -> Monitoring:
    """Looks once.

    Args:
        checkpoint: of the release, complete.
        criteria: as the release met them; those on a site's own figures are held against the new cases by the same
            rule, the worse end of a 95 % interval.
        statistics: of the release, if it has any.
        config: the site's.
        version, release_sha256: of the release.
        signature: what was found of it.
        since: the first index date; by default all.
        only: ids of patients, rows or cases; by default all.
        progress: is told how far reading has come.

    Raises:
        WardroundError: the model lacks a site's own entries, or there is no such case.
    """
    checkpoint.require_complete()
    card = checkpoint.card
    workload, kind = workload_of(card.workload), card.workload["kind"]
    data = workload.open_new(
        config.section(kind, card.study),
        cache=config.cache_folder,
        disclosure=config.disclosure,
        where=config.section_name(kind, card.study),
        progress=progress,
        since=since,
        only=only,
    )
    network = workload.network()
    fill_network(network, checkpoint.tensors)
    network.to(usable_device(config.device)).eval()
    scores = data.score(network, _SPLIT, detail=True)
    at_site = [criterion for criterion in criteria if criterion.kind == "worst_site"]
    return Monitoring(
        site=config.name,
        study=card.study,
        version=version,
        release_sha256=release_sha256,
        time=datetime.now(UTC).isoformat(timespec="seconds"),
        signature=signature,
        cases=data.counts[f"{_SPLIT}_cases"],
        patients=data.counts[f"{_SPLIT}_patients"],
        left_out=data.counts["left_out"],
        criteria=[
            changed(
                criterion,
                sites=[
                    check_at_site(
                        config.name,
                        find(scores.records, criterion.metric),
                        criterion.limit,
                        higher=criterion.better == "higher",
                    )
                ],
            )
            for criterion in at_site
        ],
        not_checked=[criterion.metric for criterion in criteria if criterion not in at_site],
        figures=scores.records,
        inputs=_shifts(data, statistics) if statistics else [],
    )


def _shifts(data: SiteData, statistics: InputStatistics) -> list[InputShift]:
    known = {shares.name: shares for shares in statistics.inputs}
    inputs = data.inputs(_SPLIT)
    return [_shift(column, counts, known[column.name]) for column, counts in inputs if column.name in known]


def _shift(column: InputColumn, by_position: NDArray[np.float64], trained: InputShares) -> InputShift:
    by_patient = np.stack([by_position[:, cell.first : cell.last + 1].sum(axis=1) for cell in trained.cells], axis=1)
    counts = by_patient.sum(axis=0).tolist()
    expected = [cell.share for cell in trained.cells]
    chance: float | None
    if column.sampled:  # rows of one patient are no sample of their own
        # of training, rows alone are known: with several a patient, chance is told a little too low
        index = stability_index(expected, counts)
        chance = chance_index(len(counts), len(by_patient), trained.rows)
    else:
        index = index_of_shares(expected, by_patient)
        chance = chance_of_patients(by_patient, trained.rows)
    total = sum(counts)
    return InputShift(
        name=column.name,
        index=index,
        chance=chance,
        judged=judged(index, chance) if len(counts) > 1 else "not_comparable",
        rows=round(total),
        cells=[
            CellShift(label=cell.label, expected=cell.share, found=count / total)
            for cell, count in zip(trained.cells, counts, strict=True)
        ],
    )
