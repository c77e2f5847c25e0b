"""What preprocessing changes about a site's geometry, told once for all cases, and what makes a grid doubtful."""

from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np
from nibabel.affines import voxel_sizes
from nibabel.orientations import aff2axcodes, axcodes2ornt, io_orientation, ornt_transform

from wardround.records.faults import fault
from wardround.records.inspection import Finding, Severity
from wardround.records.reasons import Reason
from wardround.workloads.brain_tumor.place import Place, by, spacing_of
from wardround.workloads.brain_tumor.settings import ImageContract

SHEAR = 1e-3  # cosine between two axes: rounding to float32 leaves 1e-6
_OBLIQUE_DEGREES = 1.0  # an image on an atlas's grid is not turned at all
_SPACING = 1e-3  # relative, as resampling has it
_SHOWN = 5


def geometry_findings(places: Mapping[str, Place], contract: ImageContract) -> list[Finding]:
    """Notes on what is turned or resampled, and warnings for grids that no registered image has.

    Args:
        places: where each usable case lies, by its id.
        contract: of the study.
    """
    return [*_doubtful(places, contract), *_turned(places, contract), *_resampled(places, contract), *_sizes(places)]


def _doubtful(places: Mapping[str, Place], contract: ImageContract) -> Iterable[Finding]:
    for case, place in places.items():
        axes = place.affine[:3, :3] / voxel_sizes(place.affine)
        cosines = axes.T @ axes
        shear = float(np.abs(cosines - np.eye(3)).max())
        if shear > SHEAR:
            told = f"its axes are not at right angles: the largest cosine between two is {shear:.2g}"
            advice = "used without undoing the shear: was an affine registration written into the header? Resample it"
            yield _warning(case, place, told, "0", advice)
        elif contract.registration_space != "native" and (angle := _oblique_degrees(axes)) > _OBLIQUE_DEGREES:
            told = f"its axes are turned by {angle:.1f} degrees"
            advice = (
                f"used as it lies: is it registered to {contract.registration_space}? Then resample it onto its grid"
            )
            yield _warning(case, place, told, f"0 for an image on the grid of {contract.registration_space}", advice)


def _oblique_degrees(axes: np.ndarray) -> float:
    return float(np.degrees(np.arccos(np.clip(np.abs(axes).max(axis=0).min(), -1, 1))))


def _warning(case: str, place: Place, found: str, expected: str, advice: str) -> Finding:
    told = fault(found, file=place.file, case=case, expected=expected, advice=advice, count=0)
    return Finding.of(Severity.WARNING, Reason.GEOMETRY_DOUBTFUL, told)


def _turned(places: Mapping[str, Place], contract: ImageContract) -> Iterable[Finding]:
    wanted = axcodes2ornt(tuple(contract.orientation))
    others = Counter(
        "".join(aff2axcodes(place.affine))
        for place in places.values()
        if not np.array_equal(ornt_transform(io_orientation(place.affine), wanted), [[0, 1], [1, 1], [2, 1]])
    )
    if others:
        told = f"{_share(others, places)} are stored in another orientation: {_most(others)}"
        yield _note(
            told, sum(others.values()), contract.orientation, "turned without resampling; nothing has to be done"
        )


def _resampled(places: Mapping[str, Place], contract: ImageContract) -> Iterable[Finding]:
    others = Counter(
        by(round(side, 3) for side in spacing_of(place))
        for place in places.values()
        if not np.allclose(_in_orientation(place, contract.orientation), contract.spacing_mm, rtol=_SPACING, atol=0)
    )
    if others:
        told = f"{_share(others, places)} have another voxel size, in mm: {_most(others)}"
        advice = "resampled when prepared; nothing has to be done, but images resampled once are sharper than twice"
        yield _note(told, sum(others.values()), by(contract.spacing_mm), advice)


def _in_orientation(place: Place, orientation: str) -> np.ndarray:
    change = ornt_transform(io_orientation(place.affine), axcodes2ornt(tuple(orientation)))
    return np.asarray(spacing_of(place))[np.argsort(change[:, 0])]


def _sizes(places: Mapping[str, Place]) -> Iterable[Finding]:
    sizes = Counter(by(place.shape) for place in places.values())
    if len(sizes) > 1:
        (_, usual) = sizes.most_common(1)[0]
        advice = "cropped or padded when prepared; images that were registered to one atlas usually have one size"
        yield _note(f"{len(sizes)} sizes: {_most(sizes)}", len(places) - usual, "one for all", advice)


def _note(found: str, count: int, expected: str, advice: str) -> Finding:
    told = fault(found, expected=expected, advice=advice, count=count)
    return Finding.of(Severity.NOTE, Reason.GEOMETRY_CHANGED, told)


def _share(others: Counter[str], places: Mapping[str, Place]) -> str:
    return f"{sum(others.values()):,} of {len(places):,} cases"


def _most(counted: Counter[str]) -> str:
    told = ", ".join(f"{count:,} {what}" for what, count in counted.most_common(_SHOWN))
    return told + (", ..." if len(counted) > _SHOWN else "")
