from dataclasses import dataclass

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from wardround.metrics.pooling import pooled_dice
from wardround.records.metric_record import MetricRecord, Status
from wardround.records.scores import Scores
from wardround.workloads.brain_tumor.scoring import DETAIL_METRICS, VALIDATION_METRICS, score_cases
from wardround.workloads.brain_tumor.settings import BrainTumorSettings
from wardround.workloads.brain_tumor.workload import make

SETTINGS = BrainTumorSettings.model_validate({"patch": {"size": [16, 16, 16]}})
SIZE = 20


@dataclass
class _Case:
    """The image's three channels are what `_Echo` will predict."""

    case: str
    patient: str
    image: np.ndarray
    label: np.ndarray
    spacing_mm: tuple[float, float, float] = (1.0, 1.0, 2.0)


class _Echo(nn.Module):
    """Predicts its input, so that a test decides the prediction voxel by voxel."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))
        self.frozen = nn.BatchNorm3d(3).eval()

    def forward(self, image: Tensor) -> Tensor:
        assert not self.training
        return self.scale * image


def _cube(low: int, high: int) -> np.ndarray:
    mask = np.zeros((SIZE, SIZE, SIZE), np.uint8)
    mask[low:high, low:high, low:high] = 1
    return mask


EMPTY = _cube(0, 0)


def _case(name: str, predicted: list[np.ndarray], labelled: list[np.ndarray]) -> _Case:
    return _Case(name, name, np.stack(predicted).astype(np.float32) * 2 - 1, np.stack(labelled))


def _by_name(scores: Scores) -> dict[str, MetricRecord]:
    return {record.name: record for record in scores.records}


def _cases_with_empty_regions() -> list[_Case]:
    """ET: both empty, false alarm, missed, both there. TC and WT: perfect."""
    cube, shifted = _cube(4, 10), np.roll(_cube(4, 10), 3, axis=0)
    ets = [(EMPTY, EMPTY), (cube, EMPTY), (EMPTY, cube), (shifted, cube)]
    return [_case(f"c{i}", [cube, cube, p], [cube, cube, t]) for i, (p, t) in enumerate(ets)]


def test_empty_regions_are_left_out_counted_or_told_as_volume():
    scores = score_cases(_Echo(), _cases_with_empty_regions(), "test", SETTINGS, detail=True)
    records = _by_name(scores)
    et = records["dice_et"]
    assert (et.value, et.n, et.n_positive) == (pytest.approx((0 + 0.5) / 2), 4, 2)
    assert (et.status, et.reason) == (Status.LOW_SUPPORT, "fewer_than_3_cases")
    alarms = records["false_positive_volume_et"]
    assert (alarms.value, alarms.n, alarms.n_positive) == (pytest.approx(6**3 * 2.0 / 1000 / 2), 2, 1)
    diagonal = np.sqrt(SIZE**2 + SIZE**2 + (2 * SIZE) ** 2)
    assert records["hd95_et"].value == pytest.approx((diagonal + 3) / 2)
    assert records["brats_dice_et"].value == pytest.approx((1 + 0 + 0 + 0.5) / 4)
    assert records["brats_hd95_et"].value == pytest.approx((0 + 373.13 + 373.13 + 3) / 4)
    assert [case.values["dice_et"] for case in scores.cases] == [None, None, 0.0, 0.5]
    assert [case.values["dice_mean"] for case in scores.cases] == pytest.approx([1, 1, 2 / 3, 2.5 / 3])


def test_perfect_regions_score_one_and_the_tumor_core_has_its_distance():
    records = _by_name(score_cases(_Echo(), _cases_with_empty_regions(), "test", SETTINGS, detail=True))
    for name, value in [("dice_tc", 1), ("dice_wt", 1), ("hd95_tc", 0), ("hd95_wt", 0), ("brats_dice_tc", 1)]:
        assert records[name].value == pytest.approx(value)
        assert (records[name].n, records[name].n_positive, records[name].status) == (4, 4, Status.OK)
    assert records["false_positive_volume_wt"].status is Status.UNDEFINED


def test_only_the_test_splits_voxels_are_counted():
    """Nothing reads any other sum, so none leaves the site."""
    scores = score_cases(_Echo(), _cases_with_empty_regions(), "test", SETTINGS)
    tallies = {tally.name: tally for tally in scores.tallies}
    assert pooled_dice(tallies["voxels_et"]) == pytest.approx(2 * 108 / (2 * 216 + 2 * 216))
    assert sorted(tallies) == ["voxels_et", "voxels_tc", "voxels_wt"]
    assert score_cases(_Echo(), _cases_with_empty_regions(), "validation", SETTINGS).tallies == []


@pytest.mark.parametrize("cases", [_cases_with_empty_regions(), []], ids=["cases", "no cases"])
def test_the_promised_names_are_the_emitted_names(cases):
    plain = score_cases(_Echo(), cases, "validation", SETTINGS)
    assert tuple(record.name for record in plain.records) == VALIDATION_METRICS == make({}).metric_names()
    detailed = score_cases(_Echo(), cases, "test", SETTINGS, detail=True)
    assert tuple(record.name for record in detailed.records) == VALIDATION_METRICS + DETAIL_METRICS


def test_a_split_without_cases_is_undefined_and_not_zero():
    scores = score_cases(_Echo(), [], "test", SETTINGS)
    assert all(r.value is None and r.status is Status.UNDEFINED and r.reason == "no_cases" for r in scores.records)
    assert [tally.n for tally in scores.tallies] == [0, 0, 0]


def test_a_network_that_gives_nan_is_undefined_and_not_a_dice_of_zero():
    cases = _cases_with_empty_regions()
    cases[0].image[0, 0, 0, 0] = np.nan
    records = score_cases(_Echo(), cases, "test", SETTINGS).records
    assert {(record.value, record.reason) for record in records} == {(None, "output_not_finite")}


def test_every_modules_mode_is_restored():
    network = _Echo().train()
    network.frozen.eval()
    score_cases(network, _cases_with_empty_regions()[:1], "test", SETTINGS)
    assert network.training
    assert not network.frozen.training


def test_scoring_leaves_the_weights_and_statistics_alone():
    torch.manual_seed(0)
    network = make({"network": {"channels": [4, 8], "strides": [2]}}).network().train()
    before = {name: value.clone() for name, value in network.state_dict().items()}
    case = _case("c", [EMPTY] * 4, [_cube(3, 9)] * 3)
    score_cases(network, [case], "test", SETTINGS)
    assert all(torch.equal(before[name], value) for name, value in network.state_dict().items())


def test_final_figures_have_intervals_and_those_on_too_few_cases_have_none():
    label = _cube(5, 15)
    cases = [
        _case(f"p{side}", [_cube(5, side)] * 3, [label, label, EMPTY if side < 14 else label])
        for side in (9, 11, 14, 15)
    ]
    detailed = _by_name(score_cases(_Echo(), cases, "test", SETTINGS, detail=True))
    low, high = detailed["dice_wt"].interval
    assert low < detailed["dice_wt"].value < high
    assert (low, high) == pytest.approx((0.3, 0.97), abs=0.15)
    assert detailed["hd95_wt"].interval is not None
    assert (detailed["dice_et"].status, detailed["dice_et"].interval) == (Status.LOW_SUPPORT, None)
    quick = score_cases(_Echo(), cases, "validation", SETTINGS)
    assert [record.interval for record in quick.records] == [None] * len(quick.records)
