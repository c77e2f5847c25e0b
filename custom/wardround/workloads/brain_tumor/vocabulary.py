"""The words of brain-tumor segmentation in reports."""

from wardround.workloads.vocabulary import Beside, Family, Figure, Part, Vocabulary

_REGIONS = (
    Part("wt", "whole tumor", "WT"),
    Part("tc", "tumor core", "TC"),
    Part("et", "enhancing tumor", "ET"),
    Part("mean", "mean of regions", "mean"),
)
_LABELLED = "whose label holds the region"

VOCABULARY = Vocabulary(
    families=(
        Family(
            "dice",
            "Dice",
            True,
            parts=_REGIONS,
            meaning="Overlap of prediction and label from 0 to 1. A case whose label lacks the region has no Dice and "
            "is not counted as 0 or 1; n 6 of 8 means that 6 of 8 test cases have the region. WT, whole tumor: "
            "everything abnormal, edema included. TC, tumor core: without the edema. ET, enhancing tumor: what takes "
            "up contrast.",
            counted_where=_LABELLED,
            formula="2 |P and L| / (|P| + |L|) in voxels of a case, P predicted and L labelled, then the mean over "
            "cases with |L| > 0; mean: first over a case's regions",
            lowest=0,
            highest=1,
        ),
        Family(
            "hd95",
            "HD95",
            False,
            1,
            "mm",
            parts=_REGIONS,
            meaning="95th percentile of the distance in mm between the two surfaces; lower is better. A missed lesion "
            "is penalised, not dropped.",
            counted_where=_LABELLED,
            formula="larger of both directions' 95th percentile of distances between the surfaces of P and L, mean "
            "over cases with |L| > 0; the image's diagonal where |P| = 0",
            lowest=0,
        ),
        Family(
            "brats_dice",
            "Dice, BraTS convention",
            True,
            parts=_REGIONS,
            formula="as dice, over all cases: 1 where |P| = |L| = 0, and 0 where one of them is",
            lowest=0,
            highest=1,
        ),
        Family(
            "brats_hd95",
            "HD95, BraTS convention",
            False,
            1,
            "mm",
            parts=_REGIONS,
            formula="as hd95, over all cases: 0 where |P| = |L| = 0, and 373.13 where one of them is",
            lowest=0,
        ),
        Family(
            "false_positive_volume",
            "False-positive volume",
            False,
            1,
            "ml",
            parts=_REGIONS,
            formula="volume of P, mean over cases with |L| = 0",
            lowest=0,
        ),
        Family("voxels", "Voxel counts", True, 0, parts=_REGIONS, formula="sums of |P and L|, |P| and |L| over cases"),
    ),
    purpose="The model outlines whole tumor, tumor core and enhancing tumor on brain MRI of a known tumor.",
    predicted="predicted volumes in ml",
    figures=tuple(Figure(part.key, part.title) for part in _REGIONS),
    console_title="Dice by part and HD95 in mm",
    console_families=("dice", "hd95"),
    what_stays="Images, labels, file names and lists of figures by case",
    left_out="files",
    pictures="the sequences, the label, the prediction",
    page_families=("dice", "hd95"),
    beside=Beside(
        "Beside it: the BraTS convention",
        "The BraTS challenges score an empty label with an empty prediction as 1 and any false alarm as 0, with "
        "373.13 mm for HD95. Above, a case without the region is left out of Dice and its false alarm is counted as a "
        "volume, which is shown here too. Do not mix the two.",
        ("brats_dice", "brats_hd95", "false_positive_volume"),
    ),
)
