"""What is doubtful about a case that is used all the same: intensities, and what its label marks.

Looked for once, when a case is prepared, and kept with it: its voxels are not read again.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from wardround.records.changed import changed
from wardround.records.faults import fault
from wardround.records.inspection import Finding, Severity
from wardround.records.reasons import Reason
from wardround.workloads.brain_tumor.geometry import Volume
from wardround.workloads.brain_tumor.labels import ROUNDING
from wardround.workloads.brain_tumor.settings import REGIONS

LABEL = "label"
_OUTSIDE = 0.02  # share of the label: skull stripping cuts away a voxel or two of a tumor at the brain's surface
_NAMES = {"tc": "tumor core", "wt": "tumor", "et": "enhancing tumor"}


@dataclass(frozen=True)
class Remark:
    """A finding about one part of a case, without its file, which may be called otherwise the next time.

    Args:
        part: a sequence, or `LABEL`.
        finding: without a place.
    """

    part: str
    finding: Finding

    def placed(self, case: str, file: object) -> Finding:
        """The finding, of this file."""
        where = changed(self.finding.where, case=case, file=str(file))
        return changed(self.finding, where=where)

    def to_plain(self) -> list[Any]:
        """As JSON can hold it."""
        return [self.part, self.finding.model_dump(mode="json")]

    @classmethod
    def from_plain(cls, plain: list[Any]) -> Self:
        """Undoes `to_plain`."""
        part, finding = plain
        return cls(str(part), Finding.model_validate(finding))


def remarks_on(volumes: Mapping[str, Volume], values: NDArray | None, regions: NDArray | None) -> tuple[Remark, ...]:
    """Looks at a case on the grid of its files.

    Args:
        volumes: the sequences that hold anything, by name.
        values: of the label, as stored; None where there is none.
        regions: [3 (TC, WT, ET), X, Y, Z] of the label.
    """
    told = [Remark(name, finding) for name, volume in volumes.items() for finding in _of_intensities(volume.data)]
    if values is not None and regions is not None:
        brain = np.any([volume.data != 0 for volume in volumes.values()], axis=0)
        told += [Remark(LABEL, finding) for finding in _of_label(values, regions, brain)]
    return tuple(told)


def _of_intensities(data: NDArray) -> Iterator[Finding]:
    below = int((data < 0).sum())
    if below:
        yield _finding(
            Severity.WARNING,
            Reason.INTENSITY_NEGATIVE,
            f"{below:,} voxels are below 0, the lowest is {data.min():.6g}",
            expected="0 in the background, and more in the brain",
            advice="used as it is: was it scaled, or interpolated by splines? Export it before that step",
        )
    inside = data[data != 0]
    if inside.min() == inside.max():
        yield _finding(
            Severity.WARNING,
            Reason.INTENSITY_CONSTANT,
            f"each of its {inside.size:,} voxels that are not 0 is {inside[0]:.6g}",
            expected="a brain's different intensities",
            advice="used, but the network sees nothing in it: was a mask exported under this name?",
        )


def _of_label(values: NDArray, regions: NDArray, brain: NDArray) -> Iterator[Finding]:
    tumor = int(regions[1].sum())
    if not tumor:
        yield _finding(
            Severity.WARNING,
            Reason.LABEL_EMPTY,
            "marks no tumor at all",
            expected="a tumor",
            advice="used: what the network finds here counts as false. Check that the case has none, or that the "
            "label was not exported before it was drawn",
        )
        return
    yield from _missing_regions(regions)
    off = int((values != np.rint(values)).sum())
    if off:
        yield _finding(
            Severity.NOTE,
            Reason.LABEL_ROUNDED,
            f"{off:,} voxels are not whole numbers, but within {ROUNDING} of one",
            expected="whole numbers",
            advice="rounded; nothing has to be done",
        )
    outside = int((regions[1].astype(bool) & ~brain).sum())
    if outside > _OUTSIDE * tumor:
        yield _finding(
            Severity.WARNING,
            Reason.LABEL_OUTSIDE_BRAIN,
            f"{outside:,} of its {tumor:,} voxels lie where every sequence is 0",
            expected=f"{_OUTSIDE:.0%} at most",
            advice="used as it is: does the label belong to these images, and is it flipped or shifted?",
        )


def _missing_regions(regions: NDArray) -> Iterable[Finding]:
    missing = [_NAMES[name] for name, region in zip(REGIONS, regions, strict=True) if not region.any()]
    if missing:
        yield _finding(
            Severity.NOTE,
            Reason.REGION_MISSING,
            f"marks no {' and no '.join(missing)}",
            advice="used; nothing has to be done if the tumor has none",
        )


def _finding(severity: Severity, kind: Reason, found: str, *, expected: str = "", advice: str = "") -> Finding:
    count = 1 if severity is Severity.NOTE else 0  # a warning's count is of what is left out
    return Finding.of(severity, kind, fault(found, expected=expected, advice=advice, count=count))
