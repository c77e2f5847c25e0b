"""Example slices of a site's cases for its admin's own eyes: each sequence, with and without the label on it.

Cases with findings come first, those that are left out too, as far as their files can be read at all.
"""

import gzip
import io
import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import nibabel as nib
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Patch as LegendPatch
from nibabel.processing import resample_from_to
from numpy.typing import NDArray

from wardround.records.illustrations import Picture
from wardround.records.inspection import Finding, Severity
from wardround.records.reasons import WardroundError
from wardround.workloads.brain_tumor.geometry import Volume, oriented
from wardround.workloads.brain_tumor.labels import to_regions
from wardround.workloads.brain_tumor.layouts import CaseFiles
from wardround.workloads.brain_tumor.nifti_file import UNREADABLE, read_header
from wardround.workloads.brain_tumor.pictures import TISSUES, axial, fullest_slice, gray, overlay
from wardround.workloads.brain_tumor.prepared import PreparedCase
from wardround.workloads.brain_tumor.settings import ImageContract, LabelConvention

_log = logging.getLogger(__name__)

MOST = 12  # pictures: some 100 KB each
_WITHOUT_FINDING = 2  # of them, to compare with
_DOTS_PER_INCH = 80
_LONGEST_CAPTION = 240
_SINGULAR = 1e-9
_MOST_VOXELS = 512**3  # of one volume: more than any scan of a head has, and 0.5 GB as float32
_BLOCK = 1 << 20  # bytes


@dataclass(frozen=True)
class _Shown:
    volumes: Mapping[str, NDArray | None]  # None where it cannot be read
    regions: NDArray | None
    aspect: float


def draw_examples(
    used: Mapping[str, Sequence[PreparedCase]],
    left_out: Sequence[CaseFiles],
    findings: Sequence[Finding],
    contract: ImageContract,
    convention: LabelConvention,
) -> tuple[Picture, ...]:
    """A few cases as pictures.

    Args:
        used: cases by split.
        left_out: the others.
        findings: of both; notes alone do not bring a case to the front.
        contract: of the study.
        convention: of the labels of those left out.
    """
    told: dict[str, list[Finding]] = {}
    for one in findings:
        if one.where.case and one.severity is not Severity.NOTE:
            told.setdefault(one.where.case, []).append(one)
    prepared = {case.case: (split, case) for split, cases in used.items() for case in cases}
    raw = {files.case: files for files in left_out}
    doubtful = [case for case in told if case in prepared or case in raw]
    plain = [case for case in prepared if case not in told]
    chosen = doubtful[: MOST - min(len(plain), _WITHOUT_FINDING)]
    chosen += plain[: min(_WITHOUT_FINDING, MOST - len(chosen))]
    pictures = []
    for case in chosen:
        if case in prepared:
            split, ready = prepared[case]
            shown = _of_prepared(ready, contract)
        else:
            split, shown = "left out", _as_far_as_possible(raw[case], contract, convention)
        pictures.append(Picture(_caption(case, split, told.get(case, [])), _png(shown, contract)))
    return tuple(pictures)


def _caption(case: str, split: str, told: Sequence[Finding]) -> str:
    text = "; ".join(f"{one.kind}: {one.found}" for one in told) or "nothing found"
    text = text if len(text) <= _LONGEST_CAPTION else text[:_LONGEST_CAPTION] + " ..."
    return f"{case} ({split}): {text}"


def _of_prepared(case: PreparedCase, contract: ImageContract) -> _Shown:
    volumes = dict(zip(contract.sequences, case.image, strict=True))
    return _Shown(volumes, case.label, case.spacing_mm[1] / case.spacing_mm[0])


def _as_far_as_possible(files: CaseFiles, contract: ImageContract, convention: LabelConvention) -> _Shown:
    """A case that was left out for what is wrong with it: what else that breaks must not cost the other pictures."""
    try:
        return _of_files(files, contract, convention)
    except (ValueError, ArithmeticError, IndexError, MemoryError) as error:
        _log.warning("%s: no picture can be made of it (%s: %s)", files.case, type(error).__name__, error)
        return _Shown(dict.fromkeys(contract.sequences), None, 1.0)


def _of_files(files: CaseFiles, contract: ImageContract, convention: LabelConvention) -> _Shown:
    read = {name: _leniently(one.file, one.channel, contract.orientation) for name, one in files.volumes.items()}
    volumes = {name: one.data if (one := read.get(name)) else None for name in contract.sequences}
    label = None if files.label is None else _leniently(files.label, None, contract.orientation)
    reference = next((one for one in read.values() if one), None)
    if label is None or reference is None:
        return _Shown(volumes, None, 1.0)
    values = _where_it_lies(label, reference)
    try:
        regions = to_regions(values, convention, "")
    except WardroundError:  # what the values mean is not known, where they lie is
        regions = np.stack([np.zeros_like(values), values, np.zeros_like(values)])
    return _Shown(volumes, regions, 1.0)


def _where_it_lies(label: Volume, reference: Volume) -> NDArray:
    """A label on the grid of the images, so that a shift by its header is seen."""
    moved = resample_from_to(nib.Nifti1Image(label.data, label.affine), (reference.shape, reference.affine), order=0)
    return np.asarray(moved.dataobj)


def _leniently(file: Path, channel: int | None, orientation: str) -> Volume | None:
    """A volume whose geometry or values may be wrong, so that a person can see how; None where there is none."""
    try:
        if not _fits_its_promise(file, channel):
            return None
        image = nib.load(file)
        stored = image.dataobj[..., channel] if channel is not None else image.dataobj
        data = np.nan_to_num(np.squeeze(np.asarray(stored, np.float32)), posinf=0, neginf=0)
    except (*UNREADABLE, WardroundError, MemoryError):
        return None
    if data.ndim != 3 or min(data.shape) < 2:
        return None
    usable = np.isfinite(image.affine).all() and abs(np.linalg.det(image.affine[:3, :3])) > _SINGULAR
    return oriented(Volume(data, image.affine if usable else np.eye(4), file), orientation)


def _fits_its_promise(file: Path, channel: int | None) -> bool:
    """Whether a file holds what its header promises, and no more than a picture is worth.

    nibabel reserves memory for what a header promises before it reads, and a damaged one promises any size.

    Raises:
        WardroundError: it holds less.
        OSError, EOFError, zlib.error: it cannot be read to that place.
    """
    header = read_header(file)
    sides = header.shape if channel is None else header.shape[:3]
    if min(sides) < 1 or math.prod(sides) > _MOST_VOXELS:
        return False
    with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as stream:
        header.refuse_cut_short(_length_of(stream, header.promised))
    return True


def _length_of(stream: io.BufferedIOBase, enough: int) -> int:
    length = 0
    while length < enough and (block := stream.read(_BLOCK)):
        length += len(block)
    return length


def _png(shown: _Shown, contract: ImageContract) -> bytes:
    columns = len(shown.volumes)
    figure = Figure(figsize=(2.1 * columns, 4.9), dpi=_DOTS_PER_INCH, facecolor="black")
    FigureCanvasAgg(figure)
    for place, (name, volume) in enumerate(shown.volumes.items(), 1):
        for row in range(2):
            axes = figure.add_subplot(2, columns, row * columns + place)
            axes.set_axis_off()
            if row == 0:
                axes.set_title(name, color="white", fontsize=9)
            if volume is None:
                axes.text(0.5, 0.5, "missing, or not\nreadable", color="white", fontsize=8, ha="center", va="center")
                continue
            view = _view(volume, shown.regions, contract, marked=row == 1)
            axes.imshow(view, interpolation="nearest", aspect=shown.aspect)
    figure.legend(
        handles=[LegendPatch(color=color, label=name) for name, color in TISSUES.items()],
        loc="lower center",
        ncols=len(TISSUES),
        frameon=False,
        labelcolor="white",
        fontsize=8,
    )
    figure.subplots_adjust(left=0.005, right=0.995, top=0.94, bottom=0.07, wspace=0.03, hspace=0.03)
    written = io.BytesIO()
    figure.savefig(written, format="png", metadata={"Software": None})
    return written.getvalue()


def _view(volume: NDArray, regions: NDArray | None, contract: ImageContract, *, marked: bool) -> NDArray:
    """One axial slice, the one with the most tumor; a label of another size cannot be laid on it."""
    fits = regions is not None and regions.shape[1:] == volume.shape
    height = fullest_slice(regions) if fits and regions is not None else volume.shape[2] // 2
    view = gray(axial(volume, height, contract))
    if marked and fits and regions is not None:
        view = overlay(view, np.stack([axial(region, height, contract) for region in regions]).astype(bool))
    return view
