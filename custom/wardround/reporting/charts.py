"""Geometry of the page's charts: plain coordinates, which the template draws as SVG in the page's own colours."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from wardround.reporting.measure import MINUS
from wardround.reporting.model import Curve

WIDTH, HEIGHT = 340, 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 38, 12, 12, 30


@dataclass(frozen=True)
class Tick:
    """A grid line: where it is, and what it says."""

    at: float
    text: str


@dataclass(frozen=True)
class Line:
    """One series. `segments` are SVG point lists, broken where a site gave no figure; `dots` are the values."""

    label: str
    style: str
    segments: list[str]
    dots: list[tuple[float, float, str]]


@dataclass(frozen=True)
class LineChart:
    """A panel of curves over rounds."""

    title: str
    lines: list[Line]
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    left: float = _LEFT
    right: float = WIDTH - _RIGHT
    top: float = _TOP
    bottom: float = HEIGHT - _BOTTOM


@dataclass(frozen=True)
class ForestRow:
    """One paired difference. `low`, `high` and `at` are percent of the axis; None where there is no figure."""

    label: str
    verdict: str
    text: str
    at: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Forest:
    """Differences with their intervals on one axis; `zero` is where nothing is gained, in percent."""

    zero: float
    ticks: list[Tick]
    rows: list[ForestRow] = field(default_factory=list)


def line_chart(
    title: str, series: list[tuple[str, str, Curve]], *, rounds: int, scale: list[float] | None = None
) -> LineChart:
    """Lays out curves on shared axes.

    Args:
        title: the panel's heading.
        series: label, style name and curve of each line.
        rounds: the x axis ends here.
        scale: values that the y axis spans, for panels that share it; by default the series' own.
    """
    low, high, step = axis(values_of([curve for _, _, curve in series]) if scale is None else scale)
    left, right, top, bottom = _LEFT, WIDTH - _RIGHT, _TOP, HEIGHT - _BOTTOM

    def x(value: float) -> float:
        return round(left + (right - left) * value / max(rounds, 1), 1)

    def y(value: float) -> float:
        return round(bottom - (bottom - top) * (value - low) / (high - low), 1)

    lines = []
    for label, style, curve in series:
        runs: list[list[str]] = [[]]
        dots = []
        expected = curve.points[0].rounds if curve.points else 0
        stride = _stride(curve)
        for point in curve.points:
            if point.record.value is None or point.rounds > expected:
                runs.append([])
            expected = point.rounds + stride
            if point.record.value is not None:
                at = (x(point.rounds), y(point.record.value))
                runs[-1].append(f"{at[0]},{at[1]}")
                dots.append((*at, f"{label}, after {point.rounds} rounds: {point.record.value:.3f}"))
        lines.append(Line(label, style, [" ".join(run) for run in runs if len(run) > 1], dots))
    return LineChart(
        title=title,
        lines=lines,
        x_ticks=[Tick(x(at), str(at)) for at in _whole_ticks(rounds)],
        y_ticks=[Tick(y(value), _tick_text(value, step)) for value in _steps(low, high, step)],
    )


def values_of(curves: Iterable[Curve]) -> list[float]:
    """Every value of some curves."""
    return [point.record.value for curve in curves for point in curve.points if point.record.value is not None]


def axis(values: Iterable[float], include: float | None = None) -> tuple[float, float, float]:
    """Round limits around the values and the step between ticks (1, 2 or 5 times a power of ten, about five ticks)."""
    known = [*values, *([] if include is None else [include])]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    span = max(high - low, 1e-3 * max(abs(high), 1.0))  # equal values still get an axis
    power = 10 ** math.floor(math.log10(span / 5))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= span / 5)
    return (
        math.floor(low / step + 1e-9) * step,
        max(math.ceil(high / step - 1e-9), math.floor(low / step) + 1) * step,
        step,
    )


def forest(rows: Sequence[tuple[str, str, str, float | None, tuple[float, float] | None]]) -> Forest:
    """Lays out differences: each row is (label, verdict, text, value, interval)."""
    edges = [edge for *_, value, interval in rows for edge in (value, *(interval or ())) if edge is not None]
    low, high, step = axis(edges, include=0.0)

    def percent(value: float) -> float:
        return round(100 * (value - low) / (high - low), 2)

    return Forest(
        zero=percent(0.0),
        ticks=[Tick(percent(value), _tick_text(value, step)) for value in _steps(low, high, step)],
        rows=[
            ForestRow(
                label=label,
                verdict=verdict,
                text=text,
                at=None if value is None else percent(value),
                low=percent(interval[0]) if interval else None,
                high=percent(interval[1]) if interval else None,
            )
            for label, verdict, text, value, interval in rows
        ],
    )


def _stride(curve: Curve) -> int:
    """Rounds between validations, so that a sparse schedule is one line and a missed one is a gap."""
    rounds = [point.rounds for point in curve.points]
    gaps = [after - before for before, after in pairwise(rounds)]
    return max(set(gaps), key=gaps.count) if gaps else 1


def _steps(low: float, high: float, step: float) -> list[float]:
    return [low + index * step for index in range(round((high - low) / step) + 1)]


def _whole_ticks(rounds: int) -> list[int]:
    step = max(1, math.ceil(rounds / 8))
    return list(range(0, rounds + 1, step))


def _tick_text(value: float, step: float) -> str:
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    return f"{value:.{digits}f}".replace("-", MINUS) if abs(value) > step / 2 else "0"
