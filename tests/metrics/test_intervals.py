import numpy as np
import pytest

from wardround.metrics.intervals import mean_interval, paired_difference
from wardround.records.metric_record import Status
from wardround.records.reasons import WardroundError
from wardround.records.scores import CaseScore


def _scores(values: list[float | None], patients: list[str] | None = None) -> list[CaseScore]:
    patients = patients or [f"p{i}" for i in range(len(values))]
    return [CaseScore(case=f"c{i}", patient=p, values={"dice_wt": v}) for i, (v, p) in enumerate(zip(values, patients))]  # noqa: B905


def test_the_difference_is_paired_so_a_constant_gain_is_certain():
    """Unpaired, the spread between cases would hide it."""
    reference = [0.1, 0.9, 0.4, 0.7]
    record = paired_difference("dice_wt", _scores([v + 0.05 for v in reference]), _scores(reference))
    assert record.value == pytest.approx(0.05)
    assert record.interval == pytest.approx((0.05, 0.05))
    assert (record.n, record.status) == (4, Status.OK)


def test_the_interval_covers_the_true_mean_about_as_often_as_it_says():
    generator = np.random.default_rng(0)
    covered = 0
    for trial in range(100):
        sample = _scores(list(generator.normal(0.2, 1, 25)))
        interval = paired_difference("dice_wt", sample, _scores([0.0] * 25), seed=trial).interval
        assert interval is not None
        covered += interval[0] <= 0.2 <= interval[1]
    assert 86 <= covered <= 99


def test_scans_of_one_patient_are_no_further_patients():
    patients = [*"aaabc"]
    ours, theirs = (_scores(values, patients) for values in ([0.5, 0.5, 0.5, 0.9, 0.9], [0.4, 0.4, 0.4, 0.9, 0.9]))
    record = paired_difference("dice_wt", ours, theirs)
    assert record.n == 3
    assert record.value == pytest.approx(0.3 / 5)
    assert record.interval == pytest.approx((0.0, 0.1))  # a resample may hold `a` alone, or not at all


@pytest.mark.parametrize("patients", ["aabcdefg", "aabbcdef", "aabbccdd"])
def test_a_difference_says_no_more_than_both_figures_whoever_has_another_number_of_cases(patients: str):
    """A mean over patients beside these means over cases would leave what `a` alone has."""
    ours, theirs = [0.9, 0.8, 0.5, 0.6, 0.7, 0.4, 0.3, 0.2], [0.1, 0.3, 0.5, 0.5, 0.6, 0.4, 0.2, 0.2]
    record = paired_difference("dice_wt", _scores(ours, [*patients]), _scores(theirs, [*patients]))
    assert record.value == pytest.approx(np.mean(ours) - np.mean(theirs))
    assert record.support == record.n == len(set(patients))


def test_a_difference_gives_away_those_for_whom_one_model_alone_has_a_figure():
    record = paired_difference("dice_wt", _scores([0.5, 0.6, 0.7, 0.8]), _scores([0.4, 0.5, 0.6, None]))
    assert (record.n, record.support) == (3, 1)
    neither = paired_difference("dice_wt", _scores([0.5, 0.6, 0.7, None]), _scores([0.4, 0.5, 0.6, None]))
    assert (neither.n, neither.support) == (3, 3)


def test_same_seed_same_interval_in_any_order():
    arm, reference = _scores([0.5, 0.6, 0.8, 0.3]), _scores([0.4, 0.7, 0.5, 0.2])
    assert paired_difference("dice_wt", arm, reference) == paired_difference("dice_wt", arm[::-1], reference[::-1])


def test_undefined_cases_are_left_out_and_too_few_patients_get_no_interval():
    record = paired_difference("dice_wt", _scores([0.5, None, 0.6]), _scores([0.4, None, 0.6]))
    assert (record.n, record.status, record.reason) == (2, Status.LOW_SUPPORT, "fewer_than_3_patients")
    assert record.interval is None
    none = paired_difference("dice_wt", _scores([None]), _scores([None]))
    assert (none.value, none.n, none.status) == (None, 0, Status.UNDEFINED)


def test_arms_that_scored_different_cases_are_refused():
    with pytest.raises(WardroundError, match="c2"):
        paired_difference("dice_wt", _scores([0.5, 0.5, 0.5]), _scores([0.5, 0.5]))


def test_a_means_interval_covers_the_true_mean_about_as_often_as_it_says():
    generator = np.random.default_rng(1)
    covered = 0
    for trial in range(100):
        low, high = mean_interval(list(generator.normal(0.2, 1, 25)), [f"p{i}" for i in range(25)], seed=trial)
        covered += low <= 0.2 <= high
    assert 86 <= covered <= 99


def test_a_means_interval_draws_patients_with_all_their_cases():
    """Twenty scans of three patients are no twenty patients: the mean is either patient's, or between."""
    values, patients = [0.0] * 10 + [1.0] * 9 + [0.5], ["a"] * 10 + ["b"] * 9 + ["c"]
    low, high = mean_interval(values, patients)
    assert (low, high) == pytest.approx((0.0, 1.0), abs=0.06)
    independent = mean_interval(values, [f"p{i}" for i in range(20)])
    assert independent[1] - independent[0] < 0.5


def test_a_means_interval_does_not_depend_on_order_and_needs_three_patients():
    values, patients = [0.1, 0.3, 0.8, 0.9], ["a", "b", "c", "c"]
    assert mean_interval(values, patients) == mean_interval(values[::-1], patients[::-1])
    assert mean_interval(values, ["a", "a", "b", "b"]) is None
    assert mean_interval([], []) is None
