from datetime import datetime

import numpy as np
import polars as pl
import pytest

from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.clinical_risk.contract import SplitRule
from wardround.workloads.clinical_risk.split import split_rows
from wardround.workloads.clinical_risk.table import Table

BY_TIME = SplitRule(by="time", validation_from="2020-07-01", test_from="2020-10-01")


def made_table(patients, *, given=None, dates=None, opted_out=()):
    count = len(patients)
    return Table(
        frame=pl.DataFrame({"age": [50.0] * count}),
        outcome=np.zeros(count, np.uint8),
        patients=list(patients),
        rows=np.arange(1, count + 1),
        row_ids=[str(row) for row in range(count)],
        given_split=given,
        opted_out=dict(opted_out),
        index_dates=None if dates is None else pl.Series(dates, dtype=pl.Datetime),
    )


def as_lists(places):
    return {split: rows.tolist() for split, rows in places.items()}


def test_all_rows_of_a_patient_are_in_one_split():
    patients = [f"p{row % 40}" for row in range(120)]
    places, remarks = split_rows(made_table(patients), SplitRule())
    of_patient = [{patients[row] for row in rows} for rows in places.values()]
    assert [len(one) for one in of_patient] == [24, 6, 10]
    assert len(set.union(*of_patient)) == 40
    assert not remarks


def test_a_hospital_can_hold_all_rows_back():
    places, _ = split_rows(made_table(["a", "b", "c"]), SplitRule(validation_fraction=0, test_fraction=1))
    assert as_lists(places) == {"train": [], "validation": [], "test": [0, 1, 2]}


def test_by_time_patients_go_by_their_first_date_and_what_comes_after_their_split_is_left_out():
    days = [(1, 5), (8, 1), (6, 30), (7, 1), (9, 30), (10, 1), (12, 1)]
    dates = [datetime(2020, month, day) for month, day in days]
    places, remarks = split_rows(made_table(["a", "a", "b", "c", "c", "c", "d"], dates=dates), BY_TIME)
    assert as_lists(places) == {"train": [0, 2], "validation": [3, 4], "test": [6]}
    assert [(remark.kind, str(remark)[:41]) for remark in remarks] == [
        (Reason.ROW_EXCLUDED, "split by time: 2 of 7 rows are left out, ")
    ]


def test_by_time_a_row_without_a_date_is_left_out():
    dates = [None, datetime(2020, 1, 1), None]
    places, remarks = split_rows(made_table(["a", "a", "b"], dates=dates), BY_TIME)
    assert as_lists(places) == {"train": [1], "validation": [], "test": []}
    assert "2 of 3 rows are left out, since they have no index date" in str(remarks[0])


def test_by_time_needs_dates():
    with pytest.raises(WardroundError, match="index_date") as raised:
        split_rows(made_table(["a"]), BY_TIME)
    assert raised.value.code is Reason.CONFIGURATION_INVALID


def test_a_given_split_wins():
    given = ["test", "train", "validation", ""]
    places, remarks = split_rows(made_table(["a", "b", "c", "d"], given=given), SplitRule(test_fraction=0.9))
    assert as_lists(places) == {"train": [1], "validation": [2], "test": [0]}
    assert "1 of 4 rows" in str(remarks[0])


def test_a_given_split_that_no_row_has_is_refused():
    with pytest.raises(WardroundError, match="split_column: says nothing in all 3 rows") as raised:
        split_rows(made_table(["a", "b", "c"], given=["", "", ""]), SplitRule())
    assert raised.value.code is Reason.DATA_MISSING


def test_a_given_split_without_validation_gets_some_of_its_training_patients():
    patients = [f"p{row // 2}" for row in range(40)]
    given = ["train"] * 30 + ["test"] * 10
    places, _ = split_rows(made_table(patients, given=given), SplitRule(validation_fraction=0.2))
    assert places["test"].tolist() == list(range(30, 40))
    assert len(places["validation"]) == 6
    assert {row // 2 for row in places["validation"]}.isdisjoint(row // 2 for row in places["train"])
    none, _ = split_rows(made_table(patients, given=given), SplitRule(validation_fraction=0))
    assert len(none["validation"]) == 0


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["train", "Test", "test"], "row 2: split_column holds 'Test'"),
        (["train", "test", "test"], "row 2: split_column puts its patient into test, row 1 into train"),
    ],
)
def test_a_given_split_that_is_none_is_refused(given, told):
    with pytest.raises(WardroundError, match=told) as raised:
        split_rows(made_table(["a", "a", "b"], given=given), SplitRule())
    assert raised.value.code is Reason.SPLIT_INVALID


@pytest.mark.parametrize("validates", [0, 2])
def test_where_the_site_gives_the_split_who_opts_out_moves_nobody_else(validates):
    given = {f"p{n}": "train" if n < 16 - validates else "validation" if n < 16 else "test" for n in range(20)}

    def divided(out):
        left = [patient for patient in given if patient not in out]
        table = made_table(
            left, given=[given[patient] for patient in left], opted_out=[(one, given[one]) for one in out]
        )
        return {left[row]: split for split, rows in split_rows(table, SplitRule())[0].items() for row in rows}

    before = divided(())
    assert list(before.values()).count("validation") == (validates or 2)
    for out in [*[(one,) for one in given], ("p14", "p15"), ("p2", "p10", "p14")]:
        assert divided(out) == {patient: split for patient, split in before.items() if patient not in out}
