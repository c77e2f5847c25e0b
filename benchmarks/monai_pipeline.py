"""A plain MONAI training pipeline as the tutorials write it: Dataset and DataLoader, every transform at every step."""

from collections.abc import Iterator
from pathlib import Path

from monai.data import DataLoader, Dataset
from monai.transforms import (
    Compose,
    ConvertToMultiChannelBasedOnBratsClassesd,
    CropForegroundd,
    EnsureTyped,
    LoadImaged,
    NormalizeIntensityd,
    Orientationd,
    RandCropByPosNegLabeld,
    RandFlipd,
    RandScaleIntensityd,
    RandShiftIntensityd,
    Spacingd,
)
from torch import Tensor

from wardround.workloads.brain_tumor.settings import SEQUENCES

_BOTH = ["image", "label"]


def monai_batches(
    folder: Path, *, patch: int, batch_size: int, spacing: float = 1.0
) -> Iterator[tuple[Tensor, Tensor]]:
    """Endless batches (image, TC/WT/ET label) over the BraTS 2023 cases of a folder."""
    cases = sorted(path for path in folder.iterdir() if path.is_dir())[:6]
    items = [
        {
            "image": [str(case / f"{case.name}-{sequence}.nii.gz") for sequence in SEQUENCES],
            "label": str(case / f"{case.name}-seg.nii.gz"),
        }
        for case in cases
    ]
    transforms = Compose(
        [
            LoadImaged(_BOTH, ensure_channel_first=True),
            ConvertToMultiChannelBasedOnBratsClassesd("label", et_label=3),
            Orientationd(_BOTH, axcodes="RAS", labels=None),
            Spacingd(_BOTH, pixdim=(spacing,) * 3, mode=("bilinear", "nearest")),
            CropForegroundd(_BOTH, source_key="image"),
            NormalizeIntensityd("image", nonzero=True, channel_wise=True),
            RandCropByPosNegLabeld(_BOTH, "label", (patch,) * 3, pos=1, neg=1, num_samples=1),
            *(RandFlipd(_BOTH, prob=0.5, spatial_axis=axis) for axis in range(3)),
            RandScaleIntensityd("image", factors=0.1, prob=1.0, channel_wise=True),
            RandShiftIntensityd("image", offsets=0.1, prob=1.0, channel_wise=True),
            EnsureTyped(_BOTH, track_meta=False),
        ]
    )
    loader = DataLoader(Dataset(items, transforms), batch_size=batch_size, shuffle=True, num_workers=0)
    while True:
        for batch in loader:
            yield batch["image"].float(), batch["label"].float()
