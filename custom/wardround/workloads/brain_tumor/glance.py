"""What the names and headers of a site's images tell, for an answer within seconds."""

from pathlib import Path

from wardround.records.inspection import Finding, Findings, Severity
from wardround.records.reasons import WardroundError
from wardround.workloads.brain_tumor.case_cache import CaseCache, cache_folder
from wardround.workloads.brain_tumor.first_look import FirstLook, look_first, nothing_usable
from wardround.workloads.brain_tumor.settings import BrainTumorSettings, BrainTumorSiteSettings
from wardround.workloads.progress import Progress, unseen
from wardround.workloads.split import SPLITS
from wardround.workloads.workload import Glance


def glance_at_site(
    settings: BrainTumorSettings, site: BrainTumorSiteSettings, *, cache: Path, progress: Progress = unseen
) -> Glance:
    """Counts of the cases that may be usable, and what is wrong with the others.

    Args:
        settings: the study's.
        site: the site's.
        cache: folder of the site's cache, which may lie among the images and is not looked into.
        progress: is told how many cases are done.
    """
    try:
        first = look_first(settings, site, exclude=cache_folder(cache), progress=progress)
    except WardroundError as error:
        return Glance({}, Findings.of_errors([error], Severity.ERROR))
    problems = first.left_out({})
    told = [*first.findings(problems)]
    if first.split_error is not None:
        told = [*Findings.of_errors([first.split_error], Severity.ERROR), *told]
    elif not first.usable:
        return Glance({}, Findings.of_errors([nothing_usable(site, problems, told)], Severity.ERROR))
    return Glance(_counts(first, len(problems)), Findings([*_short_of_room(first, settings, site, cache), *told]))


def _short_of_room(
    first: FirstLook, settings: BrainTumorSettings, site: BrainTumorSiteSettings, cache: Path
) -> list[Finding]:
    folder = cache_folder(cache)
    kept: frozenset[str] = frozenset()
    if folder.is_dir():
        try:
            kept = first.kept_in(CaseCache(folder), settings.contract, site)
        except WardroundError as error:
            return [*Findings.of_errors([error], Severity.ERROR)]
    return first.room_errors(settings, kept=kept, folder=folder)


def _counts(first: FirstLook, left_out: int) -> dict[str, int]:
    counts: dict[str, int] = {}
    labelled = [files for files in first.usable if files.label]
    for split in SPLITS:
        chosen = [files for files in labelled if first.splits.get(files.patient) == split]
        counts[f"{split}_patients"] = len({files.patient for files in chosen})
        counts[f"{split}_cases"] = len(chosen)
    return counts | {"unlabelled_cases": len(first.usable) - len(labelled), "left_out": left_out}
