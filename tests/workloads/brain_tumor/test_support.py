"""How many patients a figure gives away, against an attack that subtracts what is told."""

from pathlib import Path

import numpy as np
import pytest

from wardround.metrics.dice import VoxelCounts
from wardround.records.disclosure import Disclosure
from wardround.records.metric_record import MetricRecord, Status
from wardround.records.orders import Reply
from wardround.records.scores import CaseScore
from wardround.records.study import load_study
from wardround.site.gate import guard
from wardround.workloads.brain_tumor.case_result import CaseResult
from wardround.workloads.brain_tumor.scoring import _record
from wardround.workloads.brain_tumor.settings import REGIONS
from wardround.workloads.brain_tumor.support import patients_behind, patients_behind_voxels
from wardround.workloads.registry import make_workload
from wardround.workloads.words import words_of

STUDY = load_study(Path(__file__).parents[3] / "jobs" / "brain_tumor")
WORDS = words_of({"kind": "brain_tumor"})
FULL, NO_ET, EMPTY = {"tc", "wt", "et"}, {"tc", "wt"}, set()


def _results(*labels: set[str], seed: int = 0, false_alarm: bool = True) -> list[CaseResult]:
    """A case with each of these regions, each of another patient, with made-up predictions."""
    generator = np.random.default_rng(seed)
    results = []
    for number, regions in enumerate(labels):
        counts, values = {}, {}
        for region in REGIONS:
            there = region in regions
            reference, predicted = (100, int(generator.integers(50, 150))) if there else (0, 30 * false_alarm)
            both = int(predicted / 2) if there else 0
            counts[region] = VoxelCounts(both=both, predicted=predicted, reference=reference)
            dice = 2 * both / (predicted + reference) if there else None
            values[f"dice_{region}"] = dice
            values[f"brats_dice_{region}"] = dice if there else float(not predicted)
            values[f"false_positive_volume_{region}"] = None if there else predicted / 1000
        defined = [value for region in REGIONS if (value := values[f"dice_{region}"]) is not None]
        values["dice_mean"] = sum(defined) / len(defined) if defined else None
        score = CaseScore(case=f"c{number}", patient=f"p{number}", values=values)
        results.append(CaseResult(score, counts, finite=True))
    return results


def _scores(*labels: set[str], seed: int = 0) -> list[CaseScore]:
    return [result.score for result in _results(*labels, seed=seed)]


def _told(results: list[CaseResult], least: int = 3) -> dict[str, MetricRecord]:
    return _passed([_record(name, results, interval=False) for name in sorted(results[0].values)], least)


def _passed(records: list[MetricRecord], least: int) -> dict[str, MetricRecord]:
    rules = Disclosure(minimum_patients=least, minimum_cell=5, significant_digits=None)
    reply = guard(Reply(records=records), rules, WORDS).reply
    return {record.name: record for record in reply.records if record.status is not Status.SUPPRESSED}


@pytest.mark.parametrize(
    ("labels", "name", "patients"),
    [
        ([FULL] * 6, "dice_et", 6),
        ([FULL] * 6, "brats_dice_et", 6),
        ([FULL] * 2 + [NO_ET] * 6, "dice_et", 2),
        ([FULL] * 2 + [NO_ET] * 6, "brats_hd95_et", 2),
        ([FULL] * 2 + [NO_ET] * 6, "false_positive_volume_et", 6),
        ([FULL] * 6 + [NO_ET], "dice_et", 1),  # dice_mean and the other two would give the seventh's
        ([FULL] * 6 + [EMPTY], "dice_et", 6),  # dice_mean leaves that one out
        ([FULL] * 6 + [EMPTY], "brats_dice_et", 1),
        ([FULL] * 6 + [NO_ET], "dice_mean", 7),
        ([FULL] * 6 + [NO_ET], "hd95_et", 6),
        ([NO_ET] * 6, "dice_et", 6),  # undefined: that none of six has the region
        ([EMPTY] * 4, "dice_mean", 4),
    ],
)
def test_patients_are_those_of_the_smallest_part_that_a_figure_gives_away(
    labels: list[set[str]], name: str, patients: int
) -> None:
    assert patients_behind(name, _scores(*labels)) == patients


def test_cases_of_one_patient_count_once() -> None:
    one, other = _scores(FULL, FULL)
    assert patients_behind("dice_wt", [one, other.model_copy(update={"patient": "p0"})]) == 1


def test_voxels_go_by_the_patients_who_add_to_each_count() -> None:
    assert patients_behind_voxels("et", _results(*[FULL] * 6)) == 6
    assert patients_behind_voxels("et", _results(*[FULL] * 6, NO_ET)) == 1  # a single false alarm
    assert patients_behind_voxels("et", _results(*[FULL] * 6, NO_ET, false_alarm=False)) == 6
    assert patients_behind_voxels("et", _results(FULL, *[NO_ET] * 6)) == 1
    assert patients_behind_voxels("et", []) == 0


@pytest.mark.parametrize("few", [1, 2])
def test_no_figure_of_few_can_be_had_by_subtraction(few: int) -> None:
    """With every figure told, the mean over regions gives the Dice of the few who lack one: here it does not."""
    results = _results(*[FULL] * 7, *[NO_ET] * few)
    of_the_few = sum(results[7 + i].values["dice_tc"] + results[7 + i].values["dice_wt"] for i in range(few)) / few

    def attack(figures: dict[str, float]) -> float:
        n = 7 + few
        sums = figures["dice_tc"] * n + figures["dice_wt"] * n + figures["dice_et"] * 7
        return (6 * n * figures["dice_mean"] - 2 * sums) / few

    everything = {name: record.value for name, record in _told(results, least=1).items()}
    assert attack(everything) == pytest.approx(of_the_few)
    told = _told(results)
    assert "dice_mean" in told
    assert {"dice_et", "brats_dice_et", "false_positive_volume_et"}.isdisjoint(told)


@pytest.mark.parametrize("few", [1, 2])
def test_nor_can_a_difference_of_two_models(few: int) -> None:
    """Ours minus theirs averages as the figures do, so it gives away what they would."""
    labels = [*[FULL] * 8, *[NO_ET] * few]
    ours, theirs = _scores(*labels, seed=1), _scores(*labels, seed=2)
    of_the_few = sum(
        ours[place].values[name] - theirs[place].values[name]
        for place in range(8, 8 + few)
        for name in ("dice_wt", "dice_tc")
    )

    def attack(told: dict[str, MetricRecord]) -> float:
        total = {name: record.value * record.n for name, record in told.items() if record.value is not None}
        return 6 * (total["dice_mean"] - (total["dice_wt"] + total["dice_tc"] + total["dice_et"]) / 3)

    records = make_workload(STUDY).differences(ours, theirs, seed=0)
    assert attack(_passed(records, least=1)) == pytest.approx(of_the_few)
    told = {name for name, record in _passed(records, least=3).items() if record.value is not None}
    assert told == {"dice_mean", "dice_wt", "dice_tc"} | {f"brats_dice_{region}" for region in ("wt", "tc")}
    assert {name for name, record in _told(_results(*labels)).items() if record.value is not None} == told  # as these


def test_differences_of_enough_patients_in_every_part_are_told() -> None:
    labels = [*[FULL] * 8, *[NO_ET] * 3]
    told = _passed(make_workload(STUDY).differences(_scores(*labels), _scores(*labels, seed=2), seed=0), least=3)
    assert {(told[name].n, told[name].interval is None) for name in ("dice_et",)} == {(8, True)}
    assert told["dice_mean"].interval is not None


def test_a_single_patients_dice_is_not_in_the_other_convention() -> None:
    """BraTS' mean over all less what it counts for those without the region is the Dice of the one who has it."""
    results = _results(FULL, *[NO_ET] * 7)
    everything = _told(results, least=1)
    false_alarms = everything["false_positive_volume_et"].n_positive
    assert false_alarms is not None
    value = everything["brats_dice_et"].value
    assert value is not None
    assert value * 8 - (7 - false_alarms) == pytest.approx(results[0].values["dice_et"])
    assert {"dice_et", "brats_dice_et"}.isdisjoint(_told(results))
