"""The same voxels twice: under two names, in two cases, of two patients, whatever the files are called or packed as."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from wardround.records.faults import Fault, fault
from wardround.records.inspection import Finding, Severity
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.brain_tumor.geometry import Volume
from wardround.workloads.brain_tumor.layouts import CaseFiles
from wardround.workloads.brain_tumor.remarks import LABEL


def contents_of(volumes: Mapping[str, Volume], label: NDArray | None) -> dict[str, str]:
    """SHA-256 of the voxels of each sequence, and of a label that marks anything, in the contract's orientation."""
    parts = {name: volume.data for name, volume in volumes.items()}
    if label is not None and label.any():
        parts[LABEL] = label
    return {name: _digest(data) for name, data in parts.items()}


class Copies:
    """Cases that were seen so far, by what they hold.

    Args:
        splits: patient to split, to tell what a copy would do there.
    """

    def __init__(self, splits: Mapping[str, str]) -> None:
        self._splits = splits
        self._cases: dict[tuple[tuple[str, str], ...], CaseFiles] = {}
        self._parts: dict[str, tuple[str, CaseFiles]] = {}

    def look(self, files: CaseFiles, contents: Mapping[str, str]) -> list[Finding]:
        """Takes note of a case that is going to be used, and tells what it shares with others.

        Raises:
            WardroundError: its images are those of another patient: they would be on both sides of the split.
        """
        images = tuple(sorted((name, digest) for name, digest in contents.items() if name != LABEL))
        other = self._cases.get(images)
        if other is not None and other.patient != files.patient:
            raise WardroundError(Reason.CASE_DUPLICATED, self._of_another_patient(files, other))
        told = list(_within(files, images))
        if other is not None:
            told.append(_doubt(Reason.CASE_DUPLICATED, _of_same_patient(files, other)))
        else:
            told += self._shared_parts(files, contents.items())
        self._cases.setdefault(images, files)
        for name, digest in contents.items():
            self._parts.setdefault(digest, (name, files))
        return told

    def _of_another_patient(self, files: CaseFiles, other: CaseFiles) -> Fault:
        told = f"its images are those of {other.case}, another patient's"
        here, there = self._splits.get(files.patient), self._splits.get(other.patient)
        if here and there and here != there:
            told += f", so one patient would be in {here} and in {there}"
        advice = "only the first is used: remove the one that is wrong"
        return fault(told, file=_folder(files), case=files.case, expected="each patient's images once", advice=advice)

    def _shared_parts(self, files: CaseFiles, contents: Iterable[tuple[str, str]]) -> Iterator[Finding]:
        for name, digest in contents:
            if digest in self._parts:
                theirs, other = self._parts[digest]
                told = fault(
                    f"holds the same voxels as {theirs} of {other.case}",
                    file=file_of(files, name),
                    case=files.case,
                    expected="an image or label of its own",
                    advice="both are used: one of them was put into the wrong case; find out which and replace it",
                    count=0,
                )
                yield _doubt(Reason.VOLUME_DUPLICATED, told)


def file_of(files: CaseFiles, part: str) -> object:
    """The file of a sequence or of the label."""
    return files.label if part == LABEL else files.volumes[part].file


def _within(files: CaseFiles, images: Iterable[tuple[str, str]]) -> Iterator[Finding]:
    first: dict[str, str] = {}
    for name, digest in images:
        if digest in first:
            told = fault(
                f"{name} holds the same voxels as {first[digest]} of this case",
                file=file_of(files, name),
                case=files.case,
                expected="each sequence's own image",
                advice="both are used: one was exported twice, under two names; export the right one",
                count=0,
            )
            yield _doubt(Reason.VOLUME_DUPLICATED, told)
        first.setdefault(digest, name)


def _of_same_patient(files: CaseFiles, other: CaseFiles) -> Fault:
    return fault(
        f"its images are those of {other.case}, the same patient's",
        file=_folder(files),
        case=files.case,
        expected="another timepoint's own images",
        advice="both are used, so this patient counts twice: remove one",
        count=0,
    )


def _doubt(kind: Reason, told: Fault) -> Finding:
    return Finding.of(Severity.WARNING, kind, told)


def _folder(files: CaseFiles) -> object:
    first = next(iter(files.volumes.values()))
    return first.file if first.channel is not None else first.file.parent


def _digest(data: NDArray) -> str:
    digest = hashlib.sha256(repr(data.shape).encode())
    digest.update(np.ascontiguousarray(data).data)
    return digest.hexdigest()
