"""From a hospital's folder to its cases: found, checked, prepared once, split by patient."""

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from wardround.records.faults import fault
from wardround.records.inspection import Finding, Findings, Severity
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.being_read import ended_while_read, forget
from wardround.workloads.brain_tumor.ahead import prepare_ahead, threads_for
from wardround.workloads.brain_tumor.case_cache import CaseCache, cache_folder
from wardround.workloads.brain_tumor.declaration import refuse_other_images
from wardround.workloads.brain_tumor.geometry_notes import geometry_findings
from wardround.workloads.brain_tumor.header_pass import HeaderPass, look_at_headers
from wardround.workloads.brain_tumor.layouts import CaseFiles, Found, find_cases, patient_of
from wardround.workloads.brain_tumor.prepare_cases import Prepared, of_case, prepare_cases
from wardround.workloads.brain_tumor.room import room_errors, size_of
from wardround.workloads.brain_tumor.settings import BrainTumorSettings, BrainTumorSiteSettings, ImageContract
from wardround.workloads.brain_tumor.site_data import BrainTumorSiteData
from wardround.workloads.brain_tumor.split import split_patients
from wardround.workloads.opt_out import opt_out_notes, read_opt_out
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


@dataclass(frozen=True)
class FirstLook:
    """What the names of files and their headers tell.

    Args:
        found: the cases, and those that lack files.
        headers: what the headers of the first ones tell.
        splits: patient to split, empty where the lists contradict themselves.
        split_error: how they do.
        notes: what is to be known of where the cases lie, and of patients who opted out.
    """

    found: Found
    headers: HeaderPass
    splits: Mapping[str, str]
    split_error: WardroundError | None
    notes: tuple[Finding, ...]

    @property
    def usable(self) -> list[CaseFiles]:
        """The cases of which nothing speaks against yet."""
        return [files for files in self.found.cases if files.case not in self.headers.problems]

    @property
    def labelled(self) -> set[str]:
        """Patients with a label."""
        return {files.patient for files in self.found.cases if files.label}

    def kept_in(
        self, store: CaseCache, contract: ImageContract, site: BrainTumorSiteSettings, *, read: bool = False
    ) -> frozenset[str]:
        """Usable cases that the cache has already; with `read` files are read where nothing else tells."""
        return frozenset(files.case for files in self.usable if store.holds(files, contract, site, read=read))

    def room_errors(self, settings: BrainTumorSettings, *, kept: frozenset[str], folder: Path) -> list[Finding]:
        """Why the usable cases, but for those that are kept, cannot be prepared here: see `room.room_errors`."""
        return room_errors(self.usable, self.headers.places, settings, kept=kept, folder=folder)

    def left_out(self, further: Mapping[str, WardroundError]) -> list[WardroundError]:
        """Why cases are left out: one error a case, in their order."""
        problems = {**self.headers.problems, **further}
        by_case = (of_case(problems[one.case], one.case) for one in self.found.cases if one.case in problems)
        return [*self.found.problems, *by_case]

    def findings(self, problems: Iterable[WardroundError], further: Iterable[Finding] = ()) -> Findings:
        """All that is to be told."""
        return Findings([*Findings.of_errors(problems, Severity.WARNING), *further, *self.notes])


def look_first(
    settings: BrainTumorSettings, site: BrainTumorSiteSettings, *, exclude: Path, progress: Progress = unseen
) -> FirstLook:
    """Finds the cases, divides the patients and reads headers; no voxel is looked at.

    Raises:
        WardroundError: the settings contradict themselves, or there is no case; or the images are not what the study
            asks for, with all that names and headers tell besides.
    """
    refused = _refused(lambda: refuse_other_images(settings.contract, site))
    try:
        first = _look(settings, site, exclude, progress)
    except WardroundError as error:
        raise WardroundError(error.code, *Findings.of_errors([error, *refused], Severity.ERROR)) from error
    if refused:
        told = Findings.of_errors(refused, Severity.ERROR)
        raise WardroundError(refused[0].code, *told, *first.findings(first.left_out({})))
    return first


def _refused(look: Callable[[], None]) -> list[WardroundError]:
    try:
        look()
    except WardroundError as error:
        return [error]
    return []


def _look(settings: BrainTumorSettings, site: BrainTumorSiteSettings, exclude: Path, progress: Progress) -> FirstLook:
    contract = settings.contract
    opted_out = read_opt_out(site.opt_out_file)
    found = find_cases(site, contract.sequences, exclude=exclude, opted_out=opted_out)
    labelled = {files.patient for files in found.cases if files.label}
    splits: Mapping[str, str] = {}
    split_error = None
    try:
        splits = split_patients(labelled | found.left_out_patients, site.split)
    except WardroundError as error:
        if error.code is not Reason.SPLIT_INVALID:
            raise
        split_error = error
    headers = look_at_headers(found.cases, contract.orientation, progress=progress)
    patients = {files.patient for files in found.cases} | found.left_out_patients | found.opted_out_patients
    of_cases = {one for one in opted_out if patient_of(one, site.layout) in patients}
    notes = opt_out_notes(site.opt_out_file, opted_out, patients, others=of_cases - patients)
    notes += geometry_findings(headers.places, contract)
    return FirstLook(found, headers, splits, split_error, tuple(notes))


def nothing_usable(
    site: BrainTumorSiteSettings, problems: list[WardroundError], told: Iterable[Finding]
) -> WardroundError:
    """The error where every case is left out."""
    codes = Findings.of_errors(problems, Severity.WARNING).count_by_kind(Severity.WARNING)
    count = ", ".join(f"{code} {number}" for code, number in codes.items())
    none = fault(f"none of {len(problems)} cases is usable ({count})", file=f"folder {site.folder}")
    return WardroundError(problems[0].code if len(codes) == 1 else Reason.DATA_MISSING, none, *told)


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
