import numpy as np
import pytest

from wardround.records.metric_record import BELOW_MINIMUM_CELL
from wardround.workloads.clinical_risk.small_parts import COMPLEMENTARY, held_back, held_back_between


def _held(sizes: dict[str, tuple[int, int]], minimum: int = 5) -> dict[str, str]:
    """`sizes`: part to its rows without and with the outcome, each of another patient."""
    parts = [part for part, (without, having) in sizes.items() for _ in range(without + having)]
    labels = [label for without, having in sizes.values() for label in [0] * without + [1] * having]
    patients = [f"p{row}" for row in range(len(parts))]
    return held_back(np.array(parts, dtype=np.str_), np.array(labels), np.array(patients), minimum_cell=minimum)


@pytest.mark.parametrize(
    ("sizes", "held"),
    [
        ({"a": (20, 20), "b": (20, 20)}, {}),
        ({"a": (20, 0), "b": (20, 20)}, {}),  # no patient of a class can be told of
        ({"a": (3, 1), "b": (30, 30), "c": (20, 20)}, {"a": BELOW_MINIMUM_CELL, "c": COMPLEMENTARY}),
        ({"a": (20, 1), "b": (30, 30)}, {"a": BELOW_MINIMUM_CELL, "b": COMPLEMENTARY}),  # one patient has the outcome
        (
            {"a": (4, 0), "b": (4, 0), "c": (20, 20)},
            {"a": BELOW_MINIMUM_CELL, "b": BELOW_MINIMUM_CELL},
        ),  # together eight, whose sum may be told
        ({"": (1, 1), "b": (30, 30), "c": (20, 20)}, {"c": COMPLEMENTARY}),  # patients without a part
        ({"": (9, 9), "b": (30, 30), "c": (20, 20)}, {}),
    ],
)
def test_no_small_part_is_told_or_can_be_worked_out(sizes: dict[str, tuple[int, int]], held: dict[str, str]) -> None:
    assert _held(sizes) == held


def test_a_patient_with_many_rows_counts_once() -> None:
    parts, labels = np.array(["a"] * 20 + ["b"] * 40), np.array([0, 1] * 30)
    patients = np.array(["one"] * 20 + [f"p{row}" for row in range(40)])
    assert held_back(parts, labels, patients, minimum_cell=5) == {"a": BELOW_MINIMUM_CELL, "b": COMPLEMENTARY}


def _between(divisions: dict[str, list[str]], minimum: int = 5) -> list[tuple[str, str]]:
    """Each row another patient's; every second one has the outcome."""
    rows = len(next(iter(divisions.values())))
    told = {
        (name, value): np.array([part == value for part in parts])
        for name, parts in divisions.items()
        for value in sorted(set(parts))
    }
    patients = np.array([f"p{row}" for row in range(rows)], dtype=np.str_)
    return held_back_between(told, np.arange(rows) % 2, patients, minimum_cell=minimum)


def _bands(edge: int, ages: range) -> list[str]:
    return [f"below_{edge}" if age < edge else f"{edge}_up" for age in ages]


def test_two_divisions_by_age_do_not_tell_of_the_few_between_their_edges() -> None:
    ages = range(100)
    close = _between({"one": _bands(65, ages), "other": _bands(67, ages)})
    assert ("one", "65_up") in close or ("other", "67_up") in close
    left = {("one", "below_65"), ("one", "65_up"), ("other", "below_67"), ("other", "67_up")} - set(close)
    assert not {("one", "below_65"), ("other", "below_67")} <= left
    assert not {("one", "65_up"), ("other", "67_up")} <= left
    assert _between({"one": _bands(40, ages), "other": _bands(60, ages)}) == []


def test_divisions_that_cross_tell_nothing_of_where_they_meet() -> None:
    """Sex by age: the one woman of 99 is in both, but no sum or difference of the parts is hers."""
    ages = range(100)
    sexes = ["female" if age % 3 == 0 else "male" for age in ages]
    assert _between({"sex": sexes, "age": _bands(90, ages)}, minimum=4) == []


def test_three_divisions_that_add_up_to_a_small_group_are_found() -> None:
    """a + b - c is a group of two, of which no pair of parts tells."""
    group = {"a": range(0, 40), "b": range(40, 82), "c": range(0, 80)}
    divisions = {name: ["in" if row in rows else "out" for row in range(200)] for name, rows in group.items()}
    assert _between(divisions) != []
    assert _between({name: divisions[name] for name in ("a", "b")}) == []
