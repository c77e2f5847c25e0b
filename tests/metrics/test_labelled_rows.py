import numpy as np
import pytest

from wardround.metrics.labelled_rows import labelled_rows
from wardround.records.reasons import Reason, WardroundError


@pytest.mark.parametrize(
    ("probabilities", "code", "named"),
    [
        ([0.1, float("nan"), 0.3], Reason.NOT_FINITE, "row 2"),
        ([0.1, 0.2, 1.2], Reason.VALUE_INVALID, "1.2 in row 3"),
        ([-0.1, 0.2, 0.2], Reason.VALUE_INVALID, "-0.1 in row 1"),
        (["0.1", "0.2", "high"], Reason.VALUE_INVALID, "one number a row"),
    ],
)
def test_probabilities_that_are_none_are_refused_by_row(probabilities, code, named):
    with pytest.raises(WardroundError, match=named) as caught:
        labelled_rows(probabilities, [0, 1, 0])
    assert caught.value.code is code


@pytest.mark.parametrize("labels", [["no", "yes", "no"], [0, 2, 1], [0, 1, -1], [0.0, 0.5, 1.0]])
def test_labels_other_than_0_and_1_are_refused(labels):
    with pytest.raises(WardroundError, match="expected 0 or 1") as caught:
        labelled_rows([0.1, 0.2, 0.3], labels)
    assert caught.value.code is Reason.VALUE_INVALID


def test_lengths_that_differ_are_refused():
    with pytest.raises(WardroundError, match="2 probabilities, 3 labels"):
        labelled_rows([0.1, 0.2], [0, 1, 0])


def test_rows_come_out_alike_in_any_order():
    first = labelled_rows([0.5, 0.1, 0.5], [1, 0, 0], ["b", "a", "b"])
    second = labelled_rows([0.5, 0.5, 0.1], [0, 1, 0], ["b", "b", "a"])
    for name in ("probabilities", "labels", "patients"):
        assert np.array_equal(getattr(first, name), getattr(second, name))
    assert (first.n, first.n_positive, first.n_patients, first.patients_with(1)) == (3, 1, 2, 1)
