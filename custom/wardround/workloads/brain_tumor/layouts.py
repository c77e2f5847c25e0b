"""Finds the cases of a hospital's data folder by its declared layout, and each sequence by its name.

    brats2018   [HGG/]CASE/CASE_t1ce.nii.gz, CASE_seg.nii.gz                 BraTS 2018 to 2021
    brats2023   CASE/CASE-t1c.nii.gz, CASE-seg.nii.gz                        CASE ends in a timepoint
    msd         dataset.json, imagesTr/CASE.nii.gz (4D), labelsTr/CASE.nii.gz  Decathlon Task01

Nothing is opened here but `dataset.json`; what the files hold is checked when a case is prepared.
"""

import os
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from wardround.records.faults import fault
from wardround.records.printable import printable
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.brain_tumor.msd import read_dataset
from wardround.workloads.brain_tumor.sequences import SequenceNames, VolumeFile, choose_sequences
from wardround.workloads.brain_tumor.settings import BrainTumorSiteSettings

_SUFFIXES = (".nii.gz", ".nii")
_SEPARATOR = {"brats2018": "_", "brats2023": "-"}
_TIMEPOINT = re.compile(r"^(?P<patient>.+)-\d{3}$")


@dataclass(frozen=True)
class CaseFiles:
    """The files of one case. A sequence that the site lets a case lack is absent from `volumes`."""

    case: str
    patient: str
    volumes: dict[str, VolumeFile]
    label: Path | None

    @property
    def all(self) -> list[Path]:
        """Each file once."""
        label = [self.label] if self.label else []
        return list(dict.fromkeys([*(volume.file for volume in self.volumes.values()), *label]))


@dataclass(frozen=True)
class Found:
    """What a search gave: the cases, why others were left out, and whose those were.

    Args:
        cases: sorted by id.
        problems: one a case that was left out.
        left_out_patients: whose these are, and who opted out with a labelled case: they keep their place in the split.
        opted_out_patients: who opted out and is in the data.
    """

    cases: tuple[CaseFiles, ...]
    problems: tuple[WardroundError, ...]
    left_out_patients: frozenset[str]
    opted_out_patients: frozenset[str] = frozenset()


def find_cases(
    site: BrainTumorSiteSettings,
    sequences: Sequence[str],
    *,
    exclude: Path | None = None,
    opted_out: Collection[str] = (),
) -> Found:
    """Lists a site's cases, sorted by id.

    Args:
        site: where the data lie, and how they are laid out and named.
        sequences: the sequences that each case must have, in the study's order.
        exclude: a folder that holds no cases though it may lie inside the data folder, such as the cache.
        opted_out: patients whose files are not looked at.

    Raises:
        WardroundError: the folder is missing or holds no case, or the settings contradict themselves.
    """
    if not site.folder.is_dir():
        told = fault("no such folder", file=f"folder {site.folder}", advice="name the one with the cases")
        raise WardroundError(Reason.DATA_MISSING, told)
    names = SequenceNames.of(site, sequences)
    listing = _msd_cases(site) if site.layout == "msd" else _folder_cases(site, exclude)
    cases: dict[str, CaseFiles] = {}
    problems: list[WardroundError] = []
    left_out: set[str] = set()
    unwilling: set[str] = set()
    for case, files, label in listing:
        if garbled := _not_unicode([case, *_paths(files, label)]):
            shown, error = garbled
            problems.append(error)
            left_out.add(patient_of(shown, site.layout))
            continue
        if (patient := patient_of(case, site.layout)) in opted_out:
            unwilling.add(patient)
        try:
            if case in cases:
                raise WardroundError(
                    Reason.CASE_DUPLICATED,
                    fault(
                        f"found twice under {site.folder}",
                        case=case,
                        advice="only the first is used: rename or remove the other",
                    ),
                )
            volumes = choose_sequences(files, names, case)
            cases[case] = CaseFiles(case, patient, volumes, _single(label, case))
        except WardroundError as error:
            left_out.add(patient)
            if patient not in unwilling:
                problems.append(error)
    # who would have been drawn to a split is drawn still, so that nobody else moves
    left_out |= {files.patient for files in cases.values() if files.label and files.patient in unwilling}
    cases = {case: files for case, files in cases.items() if files.patient not in unwilling}
    if not cases and not problems and not unwilling:
        raise WardroundError(
            Reason.DATA_MISSING,
            fault(
                f"no case in layout {site.layout}",
                file=f"folder {site.folder}",
                advice="see docs/data.md for layouts",
            ),
        )
    usable = tuple(cases[case] for case in sorted(cases))
    return Found(usable, tuple(problems), frozenset(left_out), frozenset(unwilling))


def read_case_files(path: Path, site: BrainTumorSiteSettings, sequences: Sequence[str]) -> CaseFiles:
    """The files of one case: a case folder, or for MSD the 4D image.

    Raises:
        WardroundError: it is not there, or sequences are missing or ambiguous.
    """
    names = SequenceNames.of(site, sequences)
    if site.layout == "msd":
        if not path.is_file():
            told = fault("no such file", file=path, expected="a 4D image file, as layout msd has them")
            raise WardroundError(Reason.DATA_MISSING, told)
        channels = read_dataset(site.folder, site.labels).channels
        chosen = choose_sequences(_channels_of(path, channels), names, path.name)
        return CaseFiles(_stem(path.name), _stem(path.name), chosen, None)
    if not path.is_dir():
        told = fault("no such folder", file=path, expected=f"a case folder, as layout {site.layout} has them")
        raise WardroundError(Reason.DATA_MISSING, told)
    case = path.absolute().name
    files, label = _tagged_files(path, case, _SEPARATOR[site.layout])
    volumes = choose_sequences(files, names, case)
    return CaseFiles(case, patient_of(case, site.layout), volumes, label[0] if label else None)


def patient_of(case: str, layout: str) -> str:
    """The patient whose case this is: BraTS 2023 ids such as BraTS-GLI-00001-000 end in a timepoint."""
    timepoint = _TIMEPOINT.match(case) if layout == "brats2023" else None
    return timepoint["patient"] if timepoint else case


def _not_unicode(names: Sequence[str]) -> tuple[str, WardroundError] | None:
    """The case's name made readable, and the error, where one of the names is no text in UTF-8.

    Old file servers have others, such as Latin-1. Python stands odd characters in for such bytes, which neither a
    result nor a page can hold.
    """
    found = next((name for name in names if name != printable(name)), None)
    if found is None:
        return None
    case = printable(names[0])
    told = fault(
        f"its name is no text in UTF-8: {printable(found)}", case=case, expected="UTF-8", advice="rename it; left out"
    )
    return case, WardroundError(Reason.DATA_UNREADABLE, told)


def _paths(files: dict[str, list[VolumeFile]], label: Sequence[Path]) -> list[str]:
    return [str(volume.file) for volumes in files.values() for volume in volumes] + [str(file) for file in label]


Listing = Iterator[tuple[str, dict[str, list[VolumeFile]], list[Path]]]


def _folder_cases(site: BrainTumorSiteSettings, exclude: Path | None) -> Listing:
    left_out = exclude.resolve() if exclude else None
    for folder, subfolders, files in os.walk(site.folder, followlinks=True):
        here = Path(folder).resolve()
        subfolders[:] = sorted(
            name
            for name in subfolders
            if not name.startswith(".")
            and (target := Path(folder, name).resolve()) != left_out
            and not here.is_relative_to(target)  # a link to where we are would never end
        )
        if any(name.endswith(_SUFFIXES) and not name.startswith(".") for name in files):
            case = Path(folder).absolute().name
            yield case, *_tagged_files(Path(folder), case, _SEPARATOR[site.layout])


def _tagged_files(folder: Path, case: str, separator: str) -> tuple[dict[str, list[VolumeFile]], list[Path]]:
    """Files called CASE, separator, tag: by tag in lower case; the label's apart."""
    files: dict[str, list[VolumeFile]] = {}
    label: list[Path] = []
    for file in sorted(folder.iterdir()):
        stem = _stem(file.name)
        if stem == file.name or not stem.lower().startswith((case + separator).lower()):
            continue
        tag = stem[len(case) + 1 :].lower()
        if tag == "seg":
            label.append(file)
        else:
            files.setdefault(tag, []).append(VolumeFile(file))
    return files, label


def _msd_cases(site: BrainTumorSiteSettings) -> Listing:
    dataset = read_dataset(site.folder, site.labels)
    for image, label in dataset.training:
        yield _stem(image.name), _channels_of(image, dataset.channels), [label] if label is not None else []


def _channels_of(image: Path, channels: tuple[str, ...]) -> dict[str, list[VolumeFile]]:
    return {name: [VolumeFile(image, index, len(channels))] for index, name in enumerate(channels)}


def _single(label: list[Path], case: str) -> Path | None:
    if len(label) > 1:
        raise WardroundError(
            Reason.SEQUENCE_AMBIGUOUS,
            fault(f"two label files: {', '.join(file.name for file in label)}", case=case, advice="keep one"),
        )
    return label[0] if label else None


def _stem(name: str) -> str:
    return next((name[: -len(suffix)] for suffix in _SUFFIXES if name.endswith(suffix)), name)
