import numpy as np
import pytest

from wardround.records.metric_record import BELOW_MINIMUM_CELL
from wardround.workloads.clinical_risk.small_parts import COMPLEMENTARY, held_back


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
