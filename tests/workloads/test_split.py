from collections import Counter

import pytest

from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.split import split_by_fractions

PATIENTS = [f"p{i:02}" for i in range(20)]


def test_a_hospital_that_is_only_scored_can_hold_all_patients_back():
    split = split_by_fractions(PATIENTS, validation=0, test=1, seed=0, must_train=False)
    assert Counter(split.values()) == {"test": 20}


@pytest.mark.parametrize("count", range(8))
def test_no_patient_trains_where_the_fractions_come_to_one(count):
    split = split_by_fractions(PATIENTS[:count], validation=0.5, test=0.5, seed=0, must_train=False)
    assert len(split) == count
    assert "train" not in split.values()


@pytest.mark.parametrize(("validation", "test", "must_train"), [(0.0, 1.0, True), (0.5, 0.5, True), (0.6, 0.6, False)])
def test_fractions_that_leave_nothing_are_refused(validation, test, must_train):
    with pytest.raises(WardroundError, match="leave nothing to train on") as raised:
        split_by_fractions(PATIENTS, validation=validation, test=test, seed=0, must_train=must_train)
    assert raised.value.code is Reason.CONFIGURATION_INVALID
