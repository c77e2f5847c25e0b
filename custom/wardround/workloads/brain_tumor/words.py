"""What a site's answers in a study of brain tumors are written in."""

from collections.abc import Mapping
from typing import Any

from wardround.workloads.words import Words

_REGIONS = ("tc", "wt", "et")
_KINDS = ("dice", "hd95", "brats_dice", "brats_hd95", "false_positive_volume")


def words(_settings: Mapping[str, Any]) -> Words:
    """The same for every study."""
    return Words(
        figures=frozenset({"dice_mean", *(f"{kind}_{region}" for kind in _KINDS for region in _REGIONS)}),
        sums={f"voxels_({'|'.join(_REGIONS)})": "both|predicted|reference"},
        counts=frozenset({"unlabelled_cases", "unlisted_patients", "cases_with_missing_sequence"}),
        codes=frozenset({"no_case_with_region", "no_case_without_region"}),
    )
