from collections import Counter

import pytest

from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.brain_tumor.settings import Split
from wardround.workloads.brain_tumor.split import split_patients

PATIENTS = [f"p{i:02}" for i in range(20)]


def test_fractions_are_kept_and_the_order_of_patients_does_not_matter():
    split = split_patients(PATIENTS, Split())
    assert Counter(split.values()) == {"train": 12, "validation": 4, "test": 4}
    assert split_patients(PATIENTS[::-1], Split()) == split
    assert split_patients(PATIENTS, Split(seed=1)) != split


def test_the_split_is_the_same_on_every_machine():
    assert split_patients(["a", "b", "c"], Split()) == {"a": "validation", "c": "test", "b": "train"}


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (1, {"train": 1}),
        (2, {"train": 2}),
        (3, {"train": 1, "validation": 1, "test": 1}),
        (5, {"train": 3, "validation": 1, "test": 1}),
    ],
)
def test_few_patients_leave_one_to_train(count, expected):
    assert Counter(split_patients(PATIENTS[:count], Split()).values()) == expected


@pytest.mark.parametrize("count", [1, 2, 3])
def test_large_fractions_still_leave_one_to_train(count):
    split = split_patients(PATIENTS[:count], Split(validation_fraction=0.49, test_fraction=0.5))
    assert "train" in split.values()


def test_explicit_lists_win_and_leave_the_rest_out():
    split = Split(train=("p00", "p01"), validation=("p02",), test=())
    assert split_patients(PATIENTS, split) == {"p00": "train", "p01": "train", "p02": "validation"}


@pytest.mark.parametrize(
    ("settings", "told", "code"),
    [
        ({"train": ["p00"], "validation": ["p01"]}, "test is missing", Reason.CONFIGURATION_INVALID),
        (
            {"train": ["p00"], "validation": ["p00"], "test": []},
            "p00 is in train and in validation",
            Reason.SPLIT_INVALID,
        ),
        ({"train": ["p00", "p00"], "validation": [], "test": []}, "twice in train", Reason.SPLIT_INVALID),
        (
            {"train": ["p00"], "validation": ["nobody"], "test": []},
            "no such patient.*nobody",
            Reason.CONFIGURATION_INVALID,
        ),
        ({"validation_fraction": 0.5, "test_fraction": 0.5}, "sum must be below 1", Reason.CONFIGURATION_INVALID),
    ],
)
def test_contradictions_are_refused(settings, told, code):
    with pytest.raises(WardroundError, match=told) as raised:
        split_patients(PATIENTS, Split.model_validate(settings))
    assert raised.value.code is code
