"""The words of one kind of patient data, torch-free: what its metrics, codes and arms are called in a report.

A workload's folder holds a `vocabulary.py` with `VOCABULARY`; a report reads its own workload's, never another's.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf

METRICS_VERSION = 2
"""Of the definitions of all figures: raised with any change that gives the same predictions another figure."""


@dataclass(frozen=True)
class Part:
    """What a figure is about, such as a region of the anatomy: its code in record names, and its words."""

    key: str
    title: str
    short: str


@dataclass(frozen=True)
class Family:
    """Metrics that share a definition, such as Dice of each region.

    Args:
        key: the record's name, or its beginning where each part has a record of its own.
        title: in a reader's words.
        higher_is_better: which of two values is the better one.
        digits: shown after the decimal point.
        unit: after the value.
        parts: in reading order; other parts come after them, under their own codes.
        counts_positives: `n_positive` says how many cases have the outcome, so it is shown beside n.
        meaning: one or two sentences for the report's list of words.
        head: of a narrow column, where the title is too long for one.
        counted_where: which cases a figure is of, where that can be fewer than all: `whose label holds the region`.
        formula: how the figure is worked out, in words, for whoever wants to know what a number in a record is.
        lowest, highest: that any data can give.
    """

    key: str
    title: str
    higher_is_better: bool
    digits: int = 3
    unit: str = ""
    parts: tuple[Part, ...] = ()
    counts_positives: bool = False
    meaning: str = ""
    head: str = ""
    counted_where: str = ""
    formula: str = ""
    lowest: float = -inf
    highest: float = inf


@dataclass(frozen=True)
class Figure:
    """A figure of a single prediction, as `wardround predict` prints it."""

    key: str
    title: str
    digits: int = 1


@dataclass(frozen=True)
class Beside:
    """Figures by another convention, which a page shows in a table of their own.

    Args:
        title, text: of that section.
        families: keys of the families in it, in reading order.
    """

    title: str
    text: str
    families: tuple[str, ...]


@dataclass(frozen=True)
class Vocabulary:
    """One workload's words, and what a report of it shows where the record alone cannot tell.

    Args:
        families: of its records and tallies.
        codes: reasons and notes to words.
        arms: titles of arms that mean something of its own here, such as `reference`.
        short_arms: the same for a narrow column.
        purpose: one sentence on what a model of this kind is for, for its card.
        predicted: the heading of a prediction's figures.
        figures: of a prediction, in reading order.
        what_stays: what is not sent, in the words of this kind of data.
        small_counts: what is done with figures and sums over few cases; `hospital` in it becomes what the sites are.
        left_out: what a site leaves out when it cannot be read.
        pictures: what is on a picture of a case, from left to right.
        probability, probabilities: what the network's probabilities are of.
        console_title, console_families: heading and families of the table by hospital at the end of a run; without
            families, the key metric's.
        page_families: families of the page's table of every figure, in order; without them, all that the record has.
        beside: figures that the page keeps apart from those.
    """

    families: tuple[Family, ...]
    codes: Mapping[str, str] = field(default_factory=dict)
    arms: Mapping[str, str] = field(default_factory=dict)
    short_arms: Mapping[str, str] = field(default_factory=dict)
    purpose: str = ""
    predicted: str = "prediction"
    figures: tuple[Figure, ...] = ()
    what_stays: str = "Cases, their file names and lists of figures by case"
    small_counts: str = "those over fewer patients than the hospital's least number are held back"
    left_out: str = "cases"
    pictures: str = ""
    probability: str = "probability"
    probabilities: str = "probabilities"
    console_title: str = "Figures"
    console_families: tuple[str, ...] = ()
    page_families: tuple[str, ...] = ()
    beside: Beside | None = None
