"""Intensity histograms: each case counts 1, background and missing sequences are no intensity."""

import numpy as np
import pytest
from numpy.typing import NDArray

from wardround.workloads.brain_tumor.grid import CaseGrid
from wardround.workloads.brain_tumor.inputs import HIGHEST, LOWEST, STEPS, input_columns, shares_by_patient
from wardround.workloads.brain_tumor.prepared import PreparedCase


def _case(patient: str, image: NDArray[np.float32], *, missing: tuple[str, ...] = ()) -> PreparedCase:
    grid: CaseGrid = None  # type: ignore[assignment]
    empty = np.zeros((0, 3), np.int32)
    return PreparedCase(f"{patient}-0", patient, image, None, empty, (1.0, 1.0, 1.0), missing, grid)


def test_shares_of_a_case_are_of_its_brain_alone() -> None:
    image = np.zeros((2, 2, 2, 2), np.float32)
    image[0].flat[:4] = [-3.9, 0.1, 0.2, 100.0]  # the last beyond the highest
    image[1].flat[:2] = [1.0, 1.1]
    (t1, flair) = shares_by_patient([_case("a", image), _case("a", image), _case("b", 0 * image)], ["t1", "flair"])
    width = (HIGHEST - LOWEST) / STEPS
    expected = np.zeros(STEPS + 1)
    expected[[0, round(-LOWEST / width), STEPS - 1]] = [0.5, 1.0, 0.5]  # two cases, a quarter a voxel
    np.testing.assert_allclose(t1[1][0], expected)
    assert flair[1][0].sum() == pytest.approx(2)
    assert t1[1][1].tolist() == [0] * STEPS + [1]  # nothing but zeros
    assert [column.name for column, _ in (t1, flair)] == [column.name for column in input_columns(["t1", "flair"])]


def test_a_zero_channel_that_stands_in_is_a_missing_sequence() -> None:
    image = np.ones((1, 2, 2, 2), np.float32)
    ((_, counts),) = shares_by_patient([_case("a", image, missing=("t1",))], ["t1"])
    assert counts[0].tolist() == [0] * STEPS + [1]
