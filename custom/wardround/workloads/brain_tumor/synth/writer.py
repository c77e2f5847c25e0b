"""Writes generated hospitals to disk: NIfTI cases in BraTS 2023 folders, and a site.yaml for each hospital."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import nibabel as nib
import numpy as np
import yaml

from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.brain_tumor.settings import SEQUENCES, ImageContract, ImageDeclaration
from wardround.workloads.brain_tumor.synth.case import make_case
from wardround.workloads.brain_tumor.synth.hospitals import EVALUATE_ONLY, HospitalSettings, choose_hospitals

AGREED = {name: getattr(ImageContract(), name) for name in ImageDeclaration.model_fields}


@dataclass(frozen=True)
class CaseCounts:
    """Cases of a hospital by split. An evaluating hospital has no validation cases: it selects nothing."""

    train: int = 6
    validation: int = 4
    test: int = 8


OnCase = Callable[[str, int, int], None]


def write_hospitals(
    out: Path,
    *,
    hospitals: int = 4,
    size: int = 48,
    cases: CaseCounts = CaseCounts(),
    seed: int = 0,
    shift: float = 1.0,
    min_max: tuple[str, ...] = (),
    spacing_mm: float = 1.0,
    on_case: OnCase | None = None,
) -> list[Path]:
    """Writes `hospitals` folders under `out`; the same arguments give the same bytes.

    Each holds data/BraTS-SYN-<number>-000/BraTS-SYN-<number>-000-<t1n|t1c|t2w|t2f|seg>.nii.gz and a site.yaml that
    names the split, patient by patient. The fourth hospital has the role evaluate.

    Args:
        out: made if it is not there; other files in it are left alone.
        hospitals: how many.
        size: voxels a side.
        cases: counts by split for each hospital that trains; the evaluating one gets the same but no validation.
        seed: decides every voxel, together with the hospital's name and the case's place.
        shift: how far the hospitals differ, see `choose_hospitals`.
        min_max: names of hospitals whose site.yaml asks for min-max scaling instead of the agreed z-scores.
        spacing_mm: written to the files; a volume of 48 voxels at 1 mm is a small head, at no cost to the lesson.
        on_case: called after each case with the hospital's name, cases written and cases to write in all.

    Returns:
        The site.yaml files, in the hospitals' order.

    Raises:
        WardroundError: `min_max` names a hospital that is not written.
    """
    chosen = choose_hospitals(hospitals, seed=seed, shift=shift)
    unknown = set(min_max) - {settings.name for settings in chosen}
    if unknown:
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            f"--min-max {', '.join(sorted(unknown))}: no such hospital; written are "
            f"{', '.join(settings.name for settings in chosen)}",
        )
    counts = [_counts_of(settings, cases) for settings in chosen]
    total = sum(count.train + count.validation + count.test for count in counts)
    files: list[Path] = []
    written = 0
    for settings, count in zip(chosen, counts, strict=True):
        folder = out / settings.name
        patients = []
        for index in range(count.train + count.validation + count.test):
            patients.append(f"BraTS-SYN-{written + 1:05d}")
            images, label = make_case(settings, seed, index, size)
            write_case(folder / "data", f"{patients[-1]}-000", images, label, spacing_mm=spacing_mm)
            written += 1
            if on_case is not None:
                on_case(settings.name, written, total)
        normalisation = "min_max" if settings.name in min_max else "z_score"
        files.append(_write_site(folder, settings, count, patients, normalisation))
    return files


def write_case(folder: Path, case: str, images: np.ndarray, label: np.ndarray, *, spacing_mm: float = 1.0) -> None:
    """Writes folder/case/case-<sequence>.nii.gz as int16 and case-seg.nii.gz as uint8, in BraTS 2023 orientation (LPS).

    nibabel writes gzip without a time or a name in its header, so equal voxels give equal bytes.
    """
    target = folder / case
    target.mkdir(parents=True, exist_ok=True)
    affine = np.diag([-spacing_mm, -spacing_mm, spacing_mm, 1.0])
    affine[1, 3] = spacing_mm * (label.shape[1] - 1)
    for sequence, image in zip(SEQUENCES, images, strict=True):
        _save(np.rint(image).astype(np.int16), affine, target / f"{case}-{sequence}.nii.gz")
    _save(label.astype(np.uint8), affine, target / f"{case}-seg.nii.gz")


def _save(voxels: np.ndarray, affine: np.ndarray, file: Path) -> None:
    image = nib.Nifti1Image(voxels, affine)
    image.header.set_xyzt_units("mm")
    nib.save(image, file)


def _counts_of(settings: HospitalSettings, cases: CaseCounts) -> CaseCounts:
    return CaseCounts(cases.train, 0, cases.test) if settings.name == EVALUATE_ONLY else cases


def _write_site(
    folder: Path, settings: HospitalSettings, count: CaseCounts, patients: list[str], normalisation: str
) -> Path:
    test_from = count.train + count.validation
    site = {
        "name": settings.name,
        "role": "evaluate" if settings.name == EVALUATE_ONLY else "train",
        "synthetic": True,
        "disclosure": {"minimum_patients": 1, "minimum_cell": 1},  # nobody is behind these cases
        "state_folder": "state",
        "cache_folder": "cache",
        "data": {
            "brain_tumor": {
                "folder": "data",
                "layout": "brats2023",
                "labels": "brats2023",
                "declares": AGREED,
                "normalisation": normalisation,
                "split": {
                    "train": patients[: count.train],
                    "validation": patients[count.train : test_from],
                    "test": patients[test_from:],
                },
            }
        },
    }
    file = folder / "site.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(yaml.safe_dump(site, sort_keys=False), encoding="utf-8")
    return file
