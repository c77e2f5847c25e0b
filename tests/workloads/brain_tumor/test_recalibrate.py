"""Probabilities corrected by region: what a known distortion needs is found, and nothing is done where none helps."""

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from wardround.workloads.brain_tumor.recalibrate import recalibrate
from wardround.workloads.brain_tumor.settings import BrainTumorSettings
from wardround.workloads.brain_tumor.site_data import BrainTumorSiteData

SETTINGS = BrainTumorSettings.model_validate({"patch": {"size": [16, 16, 16]}})


@dataclass
class _Case:
    case: str
    patient: str
    image: np.ndarray
    label: np.ndarray
    spacing_mm: tuple[float, float, float] = (1.0, 1.0, 1.0)


class _Distorted(nn.Module):
    """The image holds the true logits; the network gives slope x logit + offset by region."""

    def __init__(self, slopes: list[float], offsets: list[float]) -> None:
        super().__init__()
        self.slopes = nn.Parameter(torch.tensor(slopes)[:, None, None, None])
        self.offsets = nn.Parameter(torch.tensor(offsets)[:, None, None, None])

    def forward(self, image: Tensor) -> Tensor:
        return self.slopes * image + self.offsets


def _cases(patients: int, *, empty_region: int | None = None) -> list[_Case]:
    generator = np.random.default_rng(3)
    cases = []
    for index in range(patients):
        logits = generator.normal(-1, 2, (3, 16, 16, 16)).astype(np.float32)
        label = (generator.random(logits.shape) < 1 / (1 + np.exp(-logits))).astype(np.uint8)
        if empty_region is not None:
            label[empty_region] = 0
        cases.append(_Case(f"c{index}", f"p{index}", logits, label))
    return cases


def test_a_known_distortion_is_undone_by_region() -> None:
    network = _Distorted([4.0, 1.0, 0.5], [2.0, -1.0, 0.0])
    corrected = recalibrate(network, _cases(4), SETTINGS)
    assert corrected is not None
    assert corrected.slopes.flatten().tolist() == pytest.approx([0.25, 1.0, 2.0], rel=0.1)
    assert corrected.offsets.flatten().tolist() == pytest.approx([-0.5, 1.0, 0.0], abs=0.1)
    image = torch.as_tensor(_cases(1)[0].image)[None]
    assert torch.allclose(corrected(image), image, atol=1.0)


def test_a_region_without_a_voxel_stays_as_it_is() -> None:
    corrected = recalibrate(_Distorted([4.0, 4.0, 4.0], [0.0] * 3), _cases(3, empty_region=1), SETTINGS)
    assert corrected is not None
    assert (corrected.slopes.flatten()[1].item(), corrected.offsets.flatten()[1].item()) == (1.0, 0.0)
    assert corrected.slopes.flatten()[0].item() == pytest.approx(0.25, rel=0.1)


@pytest.mark.parametrize(
    ("slope", "patients"),
    [
        (4.0, 2),  # too few patients to hold any out
        (-1.0, 4),  # higher logits mean less often a tumor: turning that round is no recalibration
        (float("nan"), 4),
    ],
)
def test_none_is_given_where_none_can_be_trusted(slope: float, patients: int) -> None:
    assert recalibrate(_Distorted([slope] * 3, [0.0] * 3), _cases(patients), SETTINGS) is None


def test_a_site_fits_it_on_its_validation_cases_alone() -> None:
    network = _Distorted([4.0] * 3, [0.0] * 3)
    cases = _cases(4)
    assert BrainTumorSiteData(SETTINGS, {"validation": cases}).recalibrate(network) is not None  # type: ignore[dict-item]
    elsewhere = BrainTumorSiteData(SETTINGS, {"train": cases, "test": cases})  # type: ignore[dict-item]
    assert elsewhere.recalibrate(network) is None
