"""How many patients stand behind a figure, or behind what could be had from it and the figures beside it."""

from collections.abc import Iterable, Sequence

from wardround.workloads.brain_tumor.case_result import CaseResult


def patients_behind(name: str, results: Sequence[CaseResult]) -> int:
    """The fewest patients of any part that the figure gives away.

    With P the patients whose label holds a region, and N those with a label without it:

    - `dice_X`, `hd95_X` rest on P, `false_positive_volume_X` on N, `dice_mean` on all who have any region.
    - `brats_*_X` are means over both, and what they are on N follows from the false alarms, so they give away P and N.
    - `dice_mean` averages within a case first. So with `dice_X` of each region it gives away the other regions' Dice of
      those who lack X but have another. Since `dice_mean` is what a study can choose by, `dice_X` goes by these too.

    Args:
        name: of a record.
        results: all cases of the split; some may be of one patient.
    """
    kind, _, region = name.rpartition("_")
    if region == "mean":
        any_region = _patients(result for result in results if result.is_positive(name))
        return len(any_region or _patients(results))
    having = _patients(result for result in results if result.counts[region].reference)
    lacking = _patients(result for result in results if not result.counts[region].reference)
    others = _patients(
        result
        for result in results
        if not result.counts[region].reference and any(counts.reference for counts in result.counts.values())
    )
    parts = {
        "dice": (having, others),
        "brats_dice": (having, lacking, others),
        "brats_hd95": (having, lacking),
        "false_positive_volume": (lacking,),
    }.get(kind, (having,))
    if kind in ("dice", "hd95") and not having:  # undefined: what it tells is that they all lack the region
        parts = (lacking,)
    return _fewest(parts)


def patients_behind_voxels(region: str, results: Sequence[CaseResult]) -> int:
    """The fewest patients who add to any of a region's counts of voxels: a count that one adds to is that one's own.

    Predicted voxels of those without the region follow from the false-positive volume, so the rest counts by itself.
    """
    having = [result for result in results if result.counts[region].reference]
    lacking = [result for result in results if not result.counts[region].reference]
    parts = (
        _patients(having),
        _patients(result for result in having if result.counts[region].both),
        _patients(result for result in having if result.counts[region].predicted),
        _patients(result for result in lacking if result.counts[region].predicted),
    )
    return _fewest(parts)


def _patients(results: Iterable[CaseResult]) -> set[str]:
    return {result.patient for result in results}


def _fewest(parts: Iterable[set[str]]) -> int:
    """Patients of the smallest part that is not empty: of nobody, nothing is given away."""
    return min((len(part) for part in parts if part), default=0)
