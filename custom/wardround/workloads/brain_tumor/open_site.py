"""From a hospital's folder to its cases: found, checked, prepared once, split by patient."""

import logging
import time
from pathlib import Path

from wardround.records.inspection import Findings, Severity
from wardround.records.reasons import WardroundError
from wardround.workloads.being_read import ended_while_read, forget
from wardround.workloads.brain_tumor.ahead import prepare_ahead, threads_for
from wardround.workloads.brain_tumor.case_cache import CaseCache, cache_folder
from wardround.workloads.brain_tumor.first_look import FirstLook, look_first, nothing_usable
from wardround.workloads.brain_tumor.prepare_cases import Prepared, prepare_cases
from wardround.workloads.brain_tumor.room import size_of
from wardround.workloads.brain_tumor.settings import BrainTumorSettings, BrainTumorSiteSettings
from wardround.workloads.brain_tumor.site_data import BrainTumorSiteData
from wardround.workloads.progress import Progress, unseen
from wardround.workloads.split import SPLITS

_log = logging.getLogger(__name__)


def open_site_data(
    settings: BrainTumorSettings,
    site: BrainTumorSiteSettings,
    *,
    cache: Path,
    progress: Progress = unseen,
    threads: int = 1,
) -> BrainTumorSiteData:
    """Finds, checks and prepares a site's cases; what is prepared already comes from the cache.

    Headers of all cases are looked at first, which takes seconds; then those whose headers are in order are prepared.
    A case that cannot be used is left out and told in `findings`; its patient keeps its place in the split, so that
    one broken file does not move others between splits.

    Raises:
        WardroundError: the settings contradict themselves, no case at all is usable, a patient is in two splits, or
            what the cases become fits neither disk nor memory; whatever else was found is told with it.
    """
    started = time.monotonic()
    store = CaseCache(cache_folder(cache))
    first = look_first(settings, site, exclude=store.folder, progress=progress)
    _log.info("%s: checking %d cases", site.folder, len(first.found.cases))
    kept = _refuse_without_room(first, settings, site, store)
    suspects = ended_while_read(store.folder)
    if suspects:
        _log.info("an earlier process died while it read %s", ", ".join(suspects))
    refused = first.headers.problems | _prepared_ahead(
        first, settings, site, store, progress, threads, kept=kept | {*suspects}
    )
    forget(store.folder)  # from here on one at a time: who dies now leaves the name of the case in hand, and no other
    prepared = prepare_cases(first.found.cases, settings, site, store, first.splits, refused=refused, progress=progress)
    problems = first.left_out(prepared.problems)
    told = first.findings(problems, prepared.findings)
    if first.split_error is not None:
        raise WardroundError(first.split_error.code, *first.split_error.faults, *told)
    if not prepared.cases:
        raise nothing_usable(site, problems, told)
    data = _divided(settings, site, first, prepared, told, len(problems))
    for problem in problems:
        _log.info("left out: %s", problem)  # whoever opened the site tells them: see `findings`
    counts = ", ".join(f"{name} {count}" for name, count in data.counts.items() if count)
    _log.info("%s: ready after %.1f s: %s", site.folder, time.monotonic() - started, counts)
    return data


def _refuse_without_room(
    first: FirstLook, settings: BrainTumorSettings, site: BrainTumorSiteSettings, store: CaseCache
) -> frozenset[str]:
    """Ends before anything is prepared where it does not fit; gives the cases that are kept already."""
    kept = first.kept_in(store, settings.contract, site)
    if not first.room_errors(settings, kept=kept, folder=store.folder):
        return kept
    kept = first.kept_in(store, settings.contract, site, read=True)
    errors = first.room_errors(settings, kept=kept, folder=store.folder)
    if errors:
        split = [] if first.split_error is None else Findings.of_errors([first.split_error], Severity.ERROR)
        raise WardroundError(errors[0].kind, *errors, *split, *first.findings(first.left_out({})))
    return kept


def _prepared_ahead(
    first: FirstLook,
    settings: BrainTumorSettings,
    site: BrainTumorSiteSettings,
    store: CaseCache,
    progress: Progress,
    threads: int,
    *,
    kept: frozenset[str],
) -> dict[str, WardroundError]:
    """Prepares all but those that are kept already, or at which a process died: these one by one, so that a further
    death names the one that it was."""
    if threads == 1:
        return {}
    cases = [files for files in first.usable if files.case not in kept]
    count = threads_for([size_of(files, first.headers.places[files.case], settings) for files in cases], threads)
    if count == 1:
        return {}
    return prepare_ahead(cases, settings, site, store, threads=count, progress=progress)


def _divided(
    settings: BrainTumorSettings,
    site: BrainTumorSiteSettings,
    first: FirstLook,
    prepared: Prepared,
    told: Findings,
    left_out: int,
) -> BrainTumorSiteData:
    by_split: dict[str, list] = {split: [] for split in SPLITS}
    unlabelled = []
    unlisted = set()
    labelled, splits = first.labelled, first.splits
    for case in prepared.cases:
        if case.patient not in labelled:
            unlabelled.append(case)
        elif case.patient not in splits:
            unlisted.add(case.patient)
        elif case.label is not None:
            by_split[splits[case.patient]].append(case)
        elif splits[case.patient] == "train":
            unlabelled.append(case)
    used = {case.case for case in prepared.cases}
    return BrainTumorSiteData(
        settings,
        by_split,
        unlabelled=unlabelled,
        findings=told,
        unlisted=len(unlisted),
        left_out=left_out,
        left_out_files=[files for files in first.found.cases if files.case not in used],
        labels=site.labels,
    )
