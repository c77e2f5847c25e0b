"""What a site's answers in a study of brain tumors are written in."""

from collections.abc import Mapping
from typing import Any

from wardround.workloads.brain_tumor.settings import BrainTumorSettings
from wardround.workloads.input_cells import CELL, tally_name
from wardround.workloads.words import Words

_REGIONS = ("tc", "wt", "et")
_KINDS = ("dice", "hd95", "brats_dice", "brats_hd95", "false_positive_volume")


def words(settings: Mapping[str, Any]) -> Words:
    """The same for every study, but for the sequences."""
    sequences = BrainTumorSettings.model_validate(dict(settings)).contract.sequences
    return Words(
        figures=frozenset({"dice_mean", *(f"{kind}_{region}" for kind in _KINDS for region in _REGIONS)}),
        sums={
            f"voxels_({'|'.join(_REGIONS)})": "both|predicted|reference",
            "|".join(map(tally_name, sequences)): CELL,
        },
        counts=frozenset({"unlabelled_cases", "unlisted_patients", "cases_with_missing_sequence"}),
        codes=frozenset({"no_case_with_region", "no_case_without_region"}),
    )
