"""How much better one arm is than another on the same cases, and how sure that is."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from wardround.records.arms import (
    BEST,
    LAST,
    PERSONALISED,
    POOLED,
    POOLED_REFERENCE,
    RECALIBRATED,
    REFERENCE,
    alone_at,
)
from wardround.records.run_lines import DifferenceLine
from wardround.records.study import Study
from wardround.site.case_store import case_file, read_case_scores
from wardround.site.config import SiteConfig
from wardround.workloads.workload import Workload


def differences(
    study: Study, workload: Workload, configs: Sequence[SiteConfig], *, run: str, split: str = "test"
) -> Iterator[DifferenceLine]:
    """Pairs of arms by site, over the per-case scores in the sites' own folders; pairs not scored there are left out.

    At every site: best minus last, pooled minus best, best minus the pooled simple model; personalised minus best,
    recalibrated minus best, and recalibrated minus what it corrects. Where a site trains, best minus itself alone and
    minus its own simple model, and last, where that is another model than best, minus itself alone, since either may
    be released; at an outside hospital, best minus each of the hospitals alone. A recalibration that was not kept is
    no other model than the one before it, and is compared with nothing.
    """
    everyone = [alone_at(config.name) for config in configs if config.role == "train"]
    for config in configs:
        own = [alone_at(config.name)] if config.role == "train" else everyone
        pairs = [
            (PERSONALISED, BEST),
            (RECALIBRATED, BEST),
            (RECALIBRATED, PERSONALISED),
            (BEST, LAST),
            *((BEST, arm) for arm in own),
            *((LAST, arm) for arm in own if config.role == "train"),
            (BEST, REFERENCE),
            (POOLED, BEST),
            (BEST, POOLED_REFERENCE),
        ]
        folder = config.state_folder / run
        for arm, reference in pairs:
            if not all(case_file(folder, name, split).is_file() for name in (arm, reference)):
                continue
            if (arm == RECALIBRATED and _changed_nothing(folder, split)) or (
                arm == LAST and _alike(folder, BEST, LAST, split)
            ):
                continue
            ours, theirs = (read_case_scores(folder, name, split) for name in (arm, reference))
            records = workload.differences(ours, theirs, seed=study.seed)
            yield DifferenceLine(arm=arm, reference=reference, split=split, site=config.name, records=records)


def _changed_nothing(folder: Path, split: str) -> bool:
    before = PERSONALISED if case_file(folder, PERSONALISED, split).is_file() else BEST
    return _alike(folder, RECALIBRATED, before, split)


def _alike(folder: Path, arm: str, other: str, split: str) -> bool:
    return read_case_scores(folder, arm, split) == read_case_scores(folder, other, split)
