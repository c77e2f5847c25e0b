"""A generated hospital with ten planted faults, each in a case of its own, and what an inspection must tell of each."""

import gzip
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import nibabel as nib
import numpy as np

from wardround.records.inspection import Severity
from wardround.records.reasons import Reason
from wardround.workloads.brain_tumor.synth.writer import CaseCounts, write_hospitals

CASES = CaseCounts(train=8, validation=3, test=4)


@dataclass(frozen=True)
class Planted:
    """One fault: in which case and file, and as what it must be found."""

    case: str
    file: str
    kind: Reason
    used: bool = False
    severity: Severity = Severity.WARNING


def write_faulty_hospital(folder: Path, *, size: int = 24) -> tuple[Path, list[Planted]]:
    """Writes hospital-a with its faults; gives its site.yaml and the faults in the order of their cases."""
    (config,) = write_hospitals(folder, hospitals=1, size=size, cases=CASES)
    data = config.parent / "data"
    return config, [plant(data, _case(number)) for number, plant in enumerate(_PLANTS, 2)]


def _case(number: int) -> str:
    return f"BraTS-SYN-{number:05d}-000"


def file_of(data: Path, case: str, part: str) -> Path:
    return data / case / f"{case}-{part}.nii.gz"


def _change(file: Path, change: Callable[[np.ndarray], np.ndarray], affine: np.ndarray | None = None) -> None:
    image = nib.load(file)
    voxels = change(np.asarray(image.dataobj))
    nib.save(nib.Nifti1Image(voxels, image.affine if affine is None else affine), file)


def _truncated(data: Path, case: str) -> Planted:
    file = file_of(data, case, "t1c")
    file.write_bytes(file.read_bytes()[:-2000])
    return Planted(case, file.name, Reason.DATA_UNREADABLE)


def _missing(data: Path, case: str) -> Planted:
    file_of(data, case, "t2f").unlink()
    return Planted(case, "", Reason.SEQUENCE_MISSING)


def _two_forms(data: Path, case: str) -> Planted:
    file = file_of(data, case, "t2w")
    image = nib.load(file)
    image = nib.Nifti1Image(np.asarray(image.dataobj), image.affine)
    image.set_sform(image.affine, code=1)
    image.set_qform(image.affine @ np.diag([-1, 1, 1, 1.0]), code=1)
    nib.save(image, file)
    return Planted(case, file.name, Reason.GEOMETRY_INVALID)


def _shifted_grid(data: Path, case: str) -> Planted:
    file = file_of(data, case, "seg")
    moved = nib.load(file).affine.copy()
    moved[0, 3] += 3
    _change(file, lambda voxels: voxels, moved)
    return Planted(case, file.name, Reason.GEOMETRY_INVALID)


def _not_a_number(data: Path, case: str) -> Planted:
    file = file_of(data, case, "t1n")

    def spoil(voxels: np.ndarray) -> np.ndarray:
        values = voxels.astype(np.float32)
        values[voxels.shape[0] // 2, :2, :2] = np.nan
        return values

    _change(file, spoil)
    return Planted(case, file.name, Reason.NOT_FINITE)


def _with_skull(data: Path, case: str) -> Planted:
    file = file_of(data, case, "t1n")
    _change(file, lambda voxels: voxels + np.int16(40))
    return Planted(case, file.name, Reason.NOT_SKULL_STRIPPED)


def _other_convention(data: Path, case: str) -> Planted:
    file = file_of(data, case, "seg")
    _change(file, lambda voxels: np.where(voxels == voxels.max(), 4, voxels).astype(np.uint8))
    return Planted(case, file.name, Reason.LABEL_AMBIGUOUS)


def _exported_twice(data: Path, case: str) -> Planted:
    file = file_of(data, case, "t2w")
    _repack(file_of(data, case, "t2f"), file)
    return Planted(case, file.name, Reason.VOLUME_DUPLICATED, used=True)


def _label_outside(data: Path, case: str) -> Planted:
    file = file_of(data, case, "seg")

    def corner(voxels: np.ndarray) -> np.ndarray:
        moved = np.zeros_like(voxels)
        moved[:5, :5, :5] = 2
        return moved

    _change(file, corner)
    return Planted(case, file.name, Reason.LABEL_OUTSIDE_BRAIN, used=True)


def _copied_patient(data: Path, case: str) -> Planted:
    """A training patient's images under a test patient's id, packed anew so that no file is equal to another."""
    last = _case(CASES.train + CASES.validation + CASES.test)
    for part in ("t1n", "t1c", "t2w", "t2f", "seg"):
        _repack(file_of(data, case, part), file_of(data, last, part))
    return Planted(last, last, Reason.CASE_DUPLICATED)


def _repack(source: Path, target: Path) -> None:
    target.write_bytes(gzip.compress(gzip.decompress(source.read_bytes()), compresslevel=1))


_PLANTS = (
    _truncated,
    _missing,
    _two_forms,
    _shifted_grid,
    _not_a_number,
    _copied_patient,  # of case 7, still in the train split
    _with_skull,
    _other_convention,
    _exported_twice,
    _label_outside,
)
