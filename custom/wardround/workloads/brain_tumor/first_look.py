"""What names of files and their headers tell of a hospital's cases, before any voxel is looked at."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from wardround.records.faults import fault
from wardround.records.inspection import Finding, Findings, Severity
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.brain_tumor.case_cache import CaseCache
from wardround.workloads.brain_tumor.declaration import refuse_other_images
from wardround.workloads.brain_tumor.geometry_notes import geometry_findings
from wardround.workloads.brain_tumor.header_pass import HeaderPass, look_at_headers
from wardround.workloads.brain_tumor.layouts import CaseFiles, Found, find_cases, patient_of
from wardround.workloads.brain_tumor.prepare_cases import of_case
from wardround.workloads.brain_tumor.room import room_errors
from wardround.workloads.brain_tumor.settings import BrainTumorSettings, BrainTumorSiteSettings, ImageContract
from wardround.workloads.brain_tumor.split import split_patients
from wardround.workloads.opt_out import opt_out_notes, read_opt_out
from wardround.workloads.progress import Progress, unseen


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
