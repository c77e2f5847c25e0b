"""An input is called stable only where it can be compared."""

import numpy as np

from wardround.records.input_statistics import InputCell, InputShares
from wardround.site.monitor import _shift
from wardround.workloads.input_cells import InputColumn

AGE = InputColumn("age", ("", ""), (20.0, 60.0, 100.0), "years")
NOW = np.array([[0.0, 1.0]] * 90 + [[1.0, 0.0]] * 10)


def _cell(first: int, last: int, share: float) -> InputCell:
    return InputCell(first=first, last=last, label="", share=share)


def test_with_one_cell_nothing_can_be_compared() -> None:
    one = InputShares(name="age", rows=100, sites=2, cells=[_cell(0, 1, 1.0)])
    assert _shift(AGE, NOW, one).judged == "not_comparable"
    two = InputShares(name="age", rows=100, sites=2, cells=[_cell(0, 0, 0.5), _cell(1, 1, 0.5)])
    assert _shift(AGE, NOW, two).judged == "large"
