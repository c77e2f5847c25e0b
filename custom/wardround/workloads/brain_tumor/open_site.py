"""From a hospital's folder to its cases: found, checked, prepared once, split by patient."""

import logging
import time
from collections.abc import Sequence
from pathlib import Path

from wardround.records.faults import fault
from wardround.records.inspection import Findings, Severity
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.brain_tumor.case_cache import CaseCache
from wardround.workloads.brain_tumor.declaration import refuse_other_images
from wardround.workloads.brain_tumor.layouts import CaseFiles, find_cases
from wardround.workloads.brain_tumor.prepared import PreparedCase
from wardround.workloads.brain_tumor.preprocess import prepare
from wardround.workloads.brain_tumor.settings import BrainTumorSettings, BrainTumorSiteSettings
from wardround.workloads.brain_tumor.site_data import BrainTumorSiteData
from wardround.workloads.brain_tumor.split import split_patients
from wardround.workloads.progress import Progress, unseen
from wardround.workloads.split import SPLITS

_log = logging.getLogger(__name__)
_PROGRESS_SECONDS = 5.0


def open_site_data(
    settings: BrainTumorSettings, site: BrainTumorSiteSettings, *, cache: Path, progress: Progress = unseen
) -> BrainTumorSiteData:
    """Finds, checks and prepares a site's cases; what is prepared already comes from the cache.

    A case that cannot be used is left out and told in `findings`; its patient keeps its place in the split, so that
    one broken file does not move others between splits.

    Raises:
        WardroundError: the settings contradict themselves, or no case at all is usable.
    """
    started = time.monotonic()
    refuse_other_images(settings.contract, site)
    store = CaseCache(cache / "brain_tumor")
    found = find_cases(site, settings.contract.sequences, exclude=store.folder)
    labelled = {files.patient for files in found.cases if files.label}
    splits = split_patients(labelled | found.left_out_patients, site.split)
    prepared, problems = _prepare_all(found.cases, settings, site, store, progress)
    problems = [*found.problems, *problems]
    findings = Findings.of_errors(problems, Severity.WARNING)
    if not prepared:
        codes = findings.count_by_kind(Severity.WARNING)
        count = ", ".join(f"{code} {number}" for code, number in codes.items())
        told = fault(f"none of {len(problems)} cases is usable ({count})", file=f"folder {site.folder}")
        raise WardroundError(problems[0].code if len(codes) == 1 else Reason.DATA_MISSING, told, *findings)
    by_split: dict[str, list[PreparedCase]] = {split: [] for split in SPLITS}
    unlabelled = []
    unlisted = set()
    for case in prepared:
        if case.patient not in labelled:
            unlabelled.append(case)
        elif case.patient not in splits:
            unlisted.add(case.patient)
        elif case.label is not None:
            by_split[splits[case.patient]].append(case)
        elif splits[case.patient] == "train":
            unlabelled.append(case)
    data = BrainTumorSiteData(settings, by_split, unlabelled=unlabelled, findings=findings, unlisted=len(unlisted))
    for problem in problems:
        _log.info("left out: %s", problem)  # whoever opened the site tells them: see `findings`
    counts = ", ".join(f"{name} {count}" for name, count in data.counts.items() if count)
    _log.info("%s: ready after %.1f s: %s", site.folder, time.monotonic() - started, counts)
    return data


def _prepare_all(
    cases: Sequence[CaseFiles],
    settings: BrainTumorSettings,
    site: BrainTumorSiteSettings,
    store: CaseCache,
    progress: Progress,
) -> tuple[list[PreparedCase], list[WardroundError]]:
    prepared: list[PreparedCase] = []
    problems: list[WardroundError] = []
    first_with: dict[str, CaseFiles] = {}
    last = time.monotonic()
    _log.info("%s: checking %d cases", site.folder, len(cases))
    for number, files in enumerate(cases, 1):
        try:
            prepared.append(_prepare_one(files, settings, site, store, first_with))
        except WardroundError as error:
            problems.append(_of_case(error, files.case))
        except Exception as error:  # one file that nobody foresaw must not take the hospital's other cases along
            _log.info("%s: cannot be prepared", files.case, exc_info=True)
            problems.append(_unforeseen(files.case, error))
        progress("cases", number, len(cases))
        if time.monotonic() - last > _PROGRESS_SECONDS:
            last = time.monotonic()
            _log.info("prepared %d of %d cases", number, len(cases))
    store.hashes.save()
    return prepared, problems


def _of_case(error: WardroundError, case: str) -> WardroundError:
    """The same, with the case beside the file."""
    placed = (one.model_copy(update={"where": one.where.model_copy(update={"case": case})}) for one in error.faults)
    return WardroundError(error.code, *placed)


def _unforeseen(case: str, error: Exception) -> WardroundError:
    # torch has no class of its own for a CPU that is out of memory
    starved = isinstance(error, MemoryError) or "allocate" in str(error)
    code = Reason.OUT_OF_MEMORY if starved else Reason.DATA_UNREADABLE
    what = f"{type(error).__name__}: {error}".splitlines()[0]
    advice = "look at its files, or leave the case out"
    return WardroundError(code, fault(f"cannot be prepared ({what})", case=case, advice=advice))


def _prepare_one(
    files: CaseFiles,
    settings: BrainTumorSettings,
    site: BrainTumorSiteSettings,
    store: CaseCache,
    first_with: dict[str, CaseFiles],
) -> PreparedCase:
    contract = settings.contract
    try:
        key, images = store.key(files, contract, site), store.images(files)
    except OSError as error:
        raise WardroundError(
            Reason.DATA_UNREADABLE,
            fault(str(error.strerror), file=error.filename, advice="check the file and its permissions"),
        ) from error
    _refuse_copy(files, first_with.get(images))
    preparation = store.get(key, lambda: prepare(files, contract, site))
    first_with[images] = files
    return PreparedCase.of(files.case, files.patient, preparation, settings.patch.size, contract.spacing_mm)


def _refuse_copy(files: CaseFiles, other: CaseFiles | None) -> None:
    """Two ids for one patient would put the same images on both sides of the split."""
    if other is not None and other.patient != files.patient:
        raise WardroundError(
            Reason.CASE_DUPLICATED,
            fault(
                f"its images are those of {other.case}, another patient's",
                case=files.case,
                advice="only the first is used: remove the one that is wrong",
            ),
        )
