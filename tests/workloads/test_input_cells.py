"""Cells of inputs: none of too few patients, pooled exactly, and nothing believed that cannot be counts."""

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from wardround.records.reasons import WardroundError
from wardround.records.scores import Tally
from wardround.workloads.input_cells import (
    InputColumn,
    check_input_tallies,
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


def test_each_cell_has_patients_enough_or_none() -> None:
    tally = input_tally(AGE, _rows(2, 3, 9, 0, 1), minimum_cell=5)
    assert tally.counts == {"cell_0_1": 5, "cell_2_4": 10}
    assert (tally.name, tally.n, tally.support) == ("inputs_age", 15, 5)
    tally = input_tally(AGE, _rows(0, 0, 6, 5, 5), minimum_cell=5)
    assert tally.counts == {"cell_0_0": 0, "cell_1_1": 0, "cell_2_2": 6, "cell_3_3": 5, "cell_4_4": 5}
    assert tally.support == 5


YEARS = InputColumn("age", (*[""] * 128, "missing"), tuple(np.linspace(0, 120, 129)), "years")


def _at(positions: Sequence[int]) -> NDArray[np.float64]:
    rows = np.zeros((len(positions), 129))
    rows[np.arange(len(positions)), positions] = 1
    return rows


def test_no_edge_is_where_it_is_because_of_one_patient() -> None:
    ages = [30, 32, 34, 40, 46, 46, 48, 60, 60, 62, 63, 66, 67, 68, 68, 70, 73, 78, 78, 81, 84, 86, 88]
    counts = input_tally(YEARS, _at(ages), minimum_cell=5).counts
    told = {name: count for name, count in counts.items() if count}
    assert told == {"cell_16_47": 6, "cell_48_63": 5, "cell_64_71": 5, "cell_72_95": 7}
    moved = [21, *ages[1:-1], 95]  # the youngest and the oldest patient, each within an eighth of the range
    assert input_tally(YEARS, _at(moved), minimum_cell=5).counts == counts
    alike = input_tally(YEARS, _at([40, 41, 42, 43, 44]), minimum_cell=5).counts  # nothing closes in on them
    assert {name for name, count in alike.items() if count} == {"cell_32_47"}


@pytest.mark.parametrize("patients", [30, 60, 200])
def test_small_hospitals_alike_have_edges_in_common(patients: int) -> None:
    draws = np.random.default_rng(0)
    sites = [draws.normal(62, 15, patients).clip(18, 100) for _ in range(6)]
    tallies = [input_tally(YEARS, _at((ages / 120 * 128).astype(int).tolist()), minimum_cell=5) for ages in sites]
    (shares,) = pooled_shares([YEARS], tallies)
    assert len(shares.cells) >= {30: 2, 60: 4, 200: 6}[patients]


def test_a_rare_category_and_missing_values_keep_a_cell_of_their_own() -> None:
    (sex,) = pooled_shares([SEX], [input_tally(SEX, _rows(180, 0, 0, 6), minimum_cell=5)])
    assert [(cell.label, cell.share) for cell in sex.cells] == [
        ("female", pytest.approx(180 / 186)),
        ("male, other or missing", pytest.approx(6 / 186)),
    ]
    (age,) = pooled_shares([AGE], [input_tally(AGE, _rows(50, 50, 50, 50, 8), minimum_cell=5)])
    assert (age.cells[-1].label, len(age.cells)) == ("missing", 5)
    (age,) = pooled_shares([AGE], [input_tally(AGE, _rows(0, 0, 0, 0, 9), minimum_cell=5)])
    assert [cell.share for cell in age.cells] == [1]


def test_rows_of_one_patient_are_not_many_patients() -> None:
    tally = input_tally(SEX, _rows(3, 9, 0, 0, patients_each=10), minimum_cell=5)
    assert tally.counts == {"cell_0_1": 120, "cell_2_2": 0, "cell_3_3": 0}
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
