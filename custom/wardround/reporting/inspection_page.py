"""An inspection as one page for the site's own admin: no script, nothing from elsewhere, and patients' values on it."""

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from wardround.records.finding_groups import group_findings
from wardround.records.illustrations import Distribution, Illustrations
from wardround.records.inspection import Inspection
from wardround.records.site_status import in_utc

_WIDTH, _BAR, _GAP = 300, 14, 4
_FOLDER = re.compile(r"(?<=[\w.-])/(?=\w)")  # its end in a path
_KEY = re.compile(r"`([^`]+)`")


@dataclass(frozen=True)
class Bar:
    """One bar: where it starts and how far it reaches (px), whose split it is, and what it says."""

    y: float
    width: float
    split: str
    text: str


@dataclass(frozen=True)
class Histogram:
    """A column's distribution, laid out: a row a value, a bar a split, as shares of the split's rows."""

    title: str
    labels: list[tuple[float, str]]
    bars: list[Bar]
    height: float
    missing: str  # rows without a value; empty where each has one


def render_inspections(inspected: Sequence[tuple[Inspection, Illustrations]]) -> str:
    """The page as text, one part for each study that was inspected."""
    environment = Environment(
        loader=PackageLoader("wardround.reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["in_words"] = _in_words
    parts = [
        {
            "record": record,
            "time": in_utc(record.time),
            "groups": group_findings(record.findings),
            "histograms": [lay_out(one) for one in drawn.distributions],
            "pictures": [(one.caption, base64.b64encode(one.png).decode()) for one in drawn.pictures],
        }
        for record, drawn in inspected
    ]
    return environment.get_template("inspection.html.j2").render(parts=parts)


def _in_words(text: str) -> Markup:
    """A message's keys, which stand in backticks, as code; a path may end a line after each of its folders."""
    safe = _FOLDER.sub("/<wbr>", str(escape(text)))
    return Markup(_KEY.sub(r"<code>\1</code>", safe))  # noqa: S704 - escaped above


def lay_out(distribution: Distribution) -> Histogram:
    """Bars of each split's share of rows by value, the longest as wide as the chart; rows without one are told."""
    splits = [split for split, counts in distribution.counts.items() if sum(counts) + distribution.missing[split]]
    totals = {split: sum(distribution.counts[split]) + distribution.missing[split] for split in splits}
    largest = max((max(distribution.counts[s], default=0) / totals[s] for s in splits), default=0.0) or 1.0
    step = _BAR * max(len(splits), 1) + _GAP
    bars = []
    for row, label in enumerate(distribution.labels):
        for place, split in enumerate(splits):
            count = distribution.counts[split][row]
            share = count / totals[split]
            text = f"{split}, {label}: {count} of {totals[split]} rows ({share:.0%})"
            bars.append(Bar(row * step + place * _BAR, round(_WIDTH * share / largest, 1), split, text))
    labels = [(row * step + (step - _GAP) / 2, label) for row, label in enumerate(distribution.labels)]
    without = [split for split in splits if distribution.missing[split]]
    missing = ", ".join(f"{split} {distribution.missing[split]} of {totals[split]}" for split in without)
    return Histogram(distribution.title, labels, bars, len(distribution.labels) * step, missing)
