"""Chart geometry: values land where the axis says."""

import pytest

from support.made_run import regions
from wardround.records.metric_record import undefined
from wardround.reporting.charts import axis, forest, line_chart
from wardround.reporting.model import Curve, Point


@pytest.mark.parametrize("values", [[0.1, 0.93], [0.5], [], [12.0, 373.13], [-0.02, 0.01], [1e-9, 2e-9]])
def test_axis_holds_its_values_in_a_few_even_steps(values: list[float]) -> None:
    low, high, step = axis(values)
    assert all(low - 1e-9 <= value <= high + 1e-9 for value in values)
    assert 1 <= round((high - low) / step) <= 7


def test_line_breaks_at_an_undefined_and_at_a_skipped_round() -> None:
    wt = [regions(0.5 + 0.05 * index)[0] for index in range(6)]
    wt[2] = undefined("dice_wt", "no_positive_case")
    points = [Point(rounds=index, record=record) for index, record in enumerate(wt) if index != 4]
    chart = line_chart("x", [("s", "c0", Curve(arm="a", site="s", metric="dice_wt", points=points))], rounds=5)
    assert [len(segment.split()) for segment in chart.lines[0].segments] == [2]
    assert len(chart.lines[0].dots) == 4


def test_sparse_schedule_is_one_line() -> None:
    points = [Point(rounds=index, record=regions(0.5)[0]) for index in (0, 2, 4)]
    chart = line_chart("x", [("s", "c0", Curve(arm="a", site="s", metric="dice_wt", points=points))], rounds=4)
    assert len(chart.lines[0].segments) == 1


def test_forest_puts_zero_on_the_axis_and_keeps_rows_without_figures() -> None:
    plot = forest([("a", "better", "t", 0.2, (0.1, 0.3)), ("b", "unknown", "t", None, None)])
    assert plot.zero == 0
    assert plot.rows[0].low < plot.rows[0].at < plot.rows[0].high
    assert plot.rows[1].at is None
