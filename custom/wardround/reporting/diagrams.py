"""Geometry of reliability diagrams and precision-recall curves: a unit square, drawn as SVG by the template."""

from dataclasses import dataclass, field
from typing import TypeVar

from wardround.reporting.charts import Line, Tick
from wardround.reporting.model import Summary
from wardround.reporting.probability_parts import PrecisionRecall, Reliability
from wardround.reporting.words import Words

_Drawn = TypeVar("_Drawn", Reliability, PrecisionRecall)

SIDE = 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 38, 8, 22, 44
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True)
class Diagram:
    """A panel of curves between 0 and 1. `guide` is a dashed line to read them against, as an SVG point list."""

    title: str
    x_title: str
    y_title: str
    guide: str
    guide_label: str
    lines: list[Line] = field(default_factory=list)
    x_ticks: list[Tick] = field(default_factory=list)
    y_ticks: list[Tick] = field(default_factory=list)
    left: float = _LEFT
    right: float = SIDE - _RIGHT
    top: float = _TOP
    bottom: float = SIDE - _BOTTOM


def reliability_panels(summary: Summary, arms: dict[str, str]) -> list[Diagram]:
    """A panel a site. `arms`: which to draw, and in which style."""
    probability = summary.words.vocabulary.probability
    return [
        _diagram(
            summary.label(site),
            f"predicted {probability}",
            "observed share",
            [(0.0, 0.0), (1.0, 1.0)],
            f"{probability} and share agree",
            [
                _line(
                    summary.words,
                    found,
                    arms[found.arm],
                    [(point.predicted, point.observed) for point in found.points],
                    _sizes(found, probability),
                )
                for found in _at(summary.reliability, site, arms)
            ],
        )
        for site in _sites(summary, summary.reliability, arms)
    ]


def precision_recall_panels(summary: Summary, arms: dict[str, str]) -> list[Diagram]:
    """A panel a site, with the prevalence that a model which knows nothing reaches."""
    panels = []
    for site in _sites(summary, summary.precision_recall, arms):
        curves = _at(summary.precision_recall, site, arms)
        prevalence = curves[0].prevalence
        lines = [_line(summary.words, found, arms[found.arm], found.points, []) for found in curves]
        panels.append(
            _diagram(
                summary.label(site),
                "recall (sensitivity)",
                "precision (PPV)",
                [(0.0, prevalence), (1.0, prevalence)],
                f"prevalence {prevalence:.3f}",
                lines,
            )
        )
    return panels


def _sites(summary: Summary, found: list[Reliability] | list[PrecisionRecall], arms: dict[str, str]) -> list[str]:
    drawn = {one.site for one in found if one.arm in arms}
    return [site.name for site in summary.sites if site.name in drawn]


def _at(found: list[_Drawn], site: str, arms: dict[str, str]) -> list[_Drawn]:
    by_arm = {one.arm: one for one in found if one.site == site}
    return [by_arm[arm] for arm in arms if arm in by_arm]


def _sizes(found: Reliability, probability: str) -> list[str]:
    return [f"{probability} {p.predicted:.3f}, observed {p.observed:.3f}, n {p.n}" for p in found.points]


def _line(
    words: Words, found: Reliability | PrecisionRecall, style: str, points: list[tuple[float, float]], texts: list[str]
) -> Line:
    """Steps of a few hundred points have no dots: they would hide the line."""
    label = words.arm_title(found.arm)
    at = [(_x(x), _y(y)) for x, y in points]
    dots = [(x, y, f"{label}: {text}") for (x, y), text in zip(at, texts, strict=False)]
    segments = [" ".join(f"{x},{y}" for x, y in at)] if len(at) > 1 else []
    return Line(label, style, segments, dots)


def _diagram(
    title: str, x_title: str, y_title: str, guide: list[tuple[float, float]], guide_label: str, lines: list[Line]
) -> Diagram:
    return Diagram(
        title=title,
        x_title=x_title,
        y_title=y_title,
        guide=" ".join(f"{_x(x)},{_y(y)}" for x, y in guide),
        guide_label=guide_label,
        lines=lines,
        x_ticks=[Tick(_x(value), f"{value:g}") for value in _TICKS],
        y_ticks=[Tick(_y(value), f"{value:g}") for value in _TICKS],
    )


def _x(value: float) -> float:
    return round(_LEFT + (SIDE - _LEFT - _RIGHT) * value, 1)


def _y(value: float) -> float:
    return round(SIDE - _BOTTOM - (SIDE - _TOP - _BOTTOM) * value, 1)
