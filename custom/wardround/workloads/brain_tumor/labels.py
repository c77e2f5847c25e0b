"""Label values of a segmentation file to the regions TC, WT, ET, and back, by the site's declared convention.

    TC = NCR or ET,  WT = NCR or ED or ET,  ET = ET

NCR is the necrotic or non-enhancing core, ED the edema (with infiltration), ET the enhancing tumor. The conventions
share values with different meanings ({0, 1, 2, 3} is BraTS 2023 and also MSD), so they are declared, never guessed.

Sources: BraTS 2018 and 2023 challenge pages; Medical Segmentation Decathlon Task01 `dataset.json`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wardround.records.faults import fault
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.brain_tumor.settings import LabelConvention

ROUNDING = 0.01  # how far a stored value may lie from a whole number: masks that went through a float resampling


@dataclass(frozen=True)
class LabelValues:
    """Which value means what in one convention."""

    core: int  # NCR, or NET in MSD
    edema: int
    enhancing: int


CONVENTIONS: dict[LabelConvention, LabelValues] = {
    "brats2018": LabelValues(core=1, edema=2, enhancing=4),
    "brats2023": LabelValues(core=1, edema=2, enhancing=3),
    "msd": LabelValues(core=2, edema=1, enhancing=3),
}


def to_regions(values: NDArray, convention: LabelConvention, where: str) -> NDArray[np.uint8]:
    """Maps label values [X, Y, Z] to regions [3, X, Y, Z] (TC, WT, ET) of 0 and 1.

    Args:
        values: as stored, of any number type.
        convention: what the site declares.
        where: the file's name, for errors.

    Raises:
        WardroundError: MASK_INVALID where values are not whole numbers or form a bare mask, LABEL_AMBIGUOUS where
            a value does not belong to the declared convention.
    """
    labels = _whole_numbers(values, where)
    meaning = CONVENTIONS[convention]
    _refuse_unknown(labels, convention, where)
    enhancing = labels == meaning.enhancing
    return np.stack([enhancing | (labels == meaning.core), labels != 0, enhancing]).astype(np.uint8)


def from_regions(regions: NDArray, convention: LabelConvention) -> NDArray[np.uint8]:
    """Maps regions [3, X, Y, Z] (TC, WT, ET; true where not 0) to label values [X, Y, Z].

    Regions that do not nest, as a network's may not, are completed from the inside: ET belongs to TC, TC to WT.
    """
    meaning = CONVENTIONS[convention]
    core, whole, enhancing = regions.astype(bool)
    labels = np.zeros(whole.shape, np.uint8)
    labels[whole] = meaning.edema
    labels[core] = meaning.core
    labels[enhancing] = meaning.enhancing
    return labels


def _whole_numbers(values: NDArray, where: str) -> NDArray[np.int64]:
    if not np.isfinite(values).all():
        told = fault(
            "the label holds NaN or infinite values", file=where, expected="whole numbers", advice="export it again"
        )
        raise WardroundError(Reason.MASK_INVALID, told)
    rounded = np.rint(values)
    off = np.abs(values - rounded) > ROUNDING
    if off.any():
        raise WardroundError(
            Reason.MASK_INVALID,
            fault(
                f"found {_shown(values[off])}",
                file=where,
                expected=f"label values that are whole numbers within {ROUNDING}",
                advice="was the mask resampled with interpolation? Use nearest-neighbour",
            ),
        )
    return rounded.astype(np.int64)


def _refuse_unknown(labels: NDArray[np.int64], convention: LabelConvention, where: str) -> None:
    meaning = CONVENTIONS[convention]
    allowed = {0, meaning.core, meaning.edema, meaning.enhancing}
    found = {int(value) for value in np.unique(labels)}
    unknown = found - allowed
    if not unknown:
        return
    seen, expected = f"found {_shown(found)}", f"{_shown(allowed)}, which convention {convention} has"
    fitting = [name for name, other in CONVENTIONS.items() if found <= {0, other.core, other.edema, other.enhancing}]
    if fitting:
        advice = f"those values fit {' or '.join(fitting)}: check what the annotators used and declare it in `labels`"
    elif len(found) <= 2:
        advice = "a bare mask cannot tell core, edema and enhancing tumor apart"
        raise WardroundError(Reason.MASK_INVALID, fault(seen, file=where, expected=expected, advice=advice))
    else:
        advice = "no known convention has them: recode the file"
    raise WardroundError(Reason.LABEL_AMBIGUOUS, fault(seen, file=where, expected=expected, advice=advice))


def _shown(values: NDArray | set[int]) -> str:
    unique = np.unique(np.asarray(sorted(values) if isinstance(values, set) else values))
    text = ", ".join(f"{value:.6g}" for value in unique[:8])
    return text + (", ..." if len(unique) > 8 else "")
