"""Cells of inputs: none of too few patients, pooled exactly, and nothing believed that cannot be counts."""

import numpy as np
import pytest
from numpy.typing import NDArray

from wardround.records.reasons import WardroundError
from wardround.records.scores import Tally
from wardround.workloads.input_cells import (
    InputColumn,
    check_input_tallies,
    counts_in,
    input_tally,
    pooled_shares,
    tally_name,
)

AGE = InputColumn("age", ("", "", "", "", "missing"), (20.0, 40.0, 60.0, 80.0, 100.0), "years")
SEX = InputColumn("sex", ("female", "male", "other", "missing"))


def _rows(*by_position: int, patients_each: int = 1) -> NDArray[np.float64]:
    """Patients with one row each (or several), by position."""
    rows = []
    for position, count in enumerate(by_position):
        for _ in range(count):
            row = np.zeros(len(by_position))
            row[position] = patients_each
            rows.append(row)
    return np.array(rows)


def test_neighbours_are_merged_until_each_cell_has_patients_enough() -> None:
    tally = input_tally(AGE, _rows(2, 3, 9, 0, 1), minimum_cell=5)
    assert tally.counts == {"cell_0_1": 5, "cell_2_4": 10}
    assert (tally.name, tally.n, tally.support) == ("inputs_age", 15, 5)


def test_rows_of_one_patient_are_not_many_patients() -> None:
    tally = input_tally(SEX, _rows(3, 9, 0, 0, patients_each=10), minimum_cell=5)
    assert tally.counts == {"cell_0_3": 120}
    few = input_tally(SEX, _rows(3, 1, 0, 0, patients_each=10), minimum_cell=5)
    assert (few.counts, few.support) == ({}, 0)


def test_the_pool_has_an_edge_where_every_site_has_one() -> None:
    a = Tally(name="inputs_age", n=30, counts={"cell_0_0": 10, "cell_1_1": 10, "cell_2_4": 10})
    b = Tally(name="inputs_age", n=30, counts={"cell_0_1": 15, "cell_2_2": 8, "cell_3_4": 7})
    (shares,) = pooled_shares([SEX, AGE], [a, b])
    assert [(cell.first, cell.last, cell.share) for cell in shares.cells] == [
        (0, 1, pytest.approx(35 / 60)),
        (2, 4, pytest.approx(25 / 60)),
    ]
    assert [cell.label for cell in shares.cells] == ["20 to 60 years", "60 to 100 years or missing"]
    assert (shares.rows, shares.sites) == (60, 2)
    assert counts_in(shares.cells, np.array([1.0, 2, 3, 4, 5])) == [3, 12]


def test_a_fine_grid_becomes_tenths() -> None:
    column = InputColumn("x", ("",) * 100, tuple(np.linspace(0, 1, 101)))
    counts = {f"cell_{n}_{n}": 5.0 for n in range(100)}
    (shares,) = pooled_shares([column], [Tally(name="inputs_x", n=500, counts=counts)])
    assert [cell.share for cell in shares.cells] == pytest.approx([0.1] * 10)
    assert shares.cells[-1].label == "0.9 to 1"


def test_categories_are_named() -> None:
    (shares,) = pooled_shares([SEX], [Tally(name="inputs_sex", n=20, counts={"cell_0_0": 10, "cell_1_3": 10})])
    assert [cell.label for cell in shares.cells] == ["female", "male, other or missing"]


@pytest.mark.parametrize(
    ("tally", "text"),
    [
        (Tally(name="inputs_height", n=9, counts={"cell_0_4": 9}), "no input"),
        (Tally(name="inputs_age", n=9, counts={"cell_0_3": 9}), "cover positions"),
        (Tally(name="inputs_age", n=9, counts={"cell_0_2": 4, "cell_2_4": 5}), "cover positions"),
        (Tally(name="inputs_age", n=9, counts={"mean": 9}), "no cell"),
        (Tally(name="inputs_age", n=9, counts={}), "no cell"),
        (Tally(name="inputs_age", n=9, counts={"cell_0_1": -1, "cell_2_4": 10}), "add up"),
        (Tally(name="inputs_age", n=9, counts={"cell_0_4": 10}), "add up"),
        (Tally(name="inputs_age", n=11, counts={"cell_0_4": 11}), "10 to train on"),
    ],
)
def test_what_cannot_be_counts_is_refused(tally: Tally, text: str) -> None:
    with pytest.raises(WardroundError, match=text):
        check_input_tallies([tally], {"train_cases": 10}, [AGE])


def test_counts_as_a_site_makes_them_are_taken_once() -> None:
    tally = input_tally(AGE, _rows(2, 3, 9, 0, 1), minimum_cell=5)
    check_input_tallies([tally], {"train_cases": 15}, [AGE, SEX])
    with pytest.raises(WardroundError, match="twice"):
        check_input_tallies([tally, tally], {"train_cases": 15}, [AGE])
    assert tally_name("T1c") == "inputs_t1c"
