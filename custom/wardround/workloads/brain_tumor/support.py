"""How many patients stand behind a figure, or behind what could be had from it and the figures beside it."""

from collections.abc import Iterable, Sequence

from wardround.records.scores import CaseScore
from wardround.workloads.brain_tumor.case_result import CaseResult
from wardround.workloads.brain_tumor.settings import REGIONS


def patients_behind(name: str, scores: Sequence[CaseScore]) -> int:
    """The fewest patients of any part that the figure gives away, or the figure's difference between two models.

    With P the patients whose label holds a region, and N those with a label without it:

    - `dice_X`, `hd95_X` rest on P, `false_positive_volume_X` on N, `dice_mean` on all who have any region.
    - `brats_*_X` are means over both, and what they are on N follows from the false alarms, so they give away P and N.
    - `dice_mean` averages within a case first. So with `dice_X` of each region it gives away the other regions' Dice of
      those who lack X but have another. Since `dice_mean` is what a study can choose by, `dice_X` goes by these too.

    Args:
        name: of a record.
        scores: all cases of the split, whichever model's: what a label holds is the same for all. Some may be of one
            patient.
    """
    kind, _, region = name.rpartition("_")
    regions = [(score, _regions(score)) for score in scores]
    if region == "mean":
        return len(_patients(score for score, there in regions if there) or _patients(scores))
    having = _patients(score for score, there in regions if region in there)
    lacking = _patients(score for score, there in regions if region not in there)
    others = _patients(score for score, there in regions if there and region not in there)
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


def _regions(score: CaseScore) -> set[str]:
    """What the case's label holds: Dice has a value there and nowhere else."""
    return {region for region in REGIONS if score.values.get(f"dice_{region}") is not None}


def _patients(cases: Iterable[CaseResult | CaseScore]) -> set[str]:
    return {case.patient for case in cases}


def _fewest(parts: Iterable[set[str]]) -> int:
    """Patients of the smallest part that is not empty: of nobody, nothing is given away."""
    return min((len(part) for part in parts if part), default=0)
