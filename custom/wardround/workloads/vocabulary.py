"""The words of one kind of patient data, torch-free: what its metrics, codes and arms are called in a report.

A workload's folder holds a `vocabulary.py` with `VOCABULARY`; a report reads its own workload's, never another's.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


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


@dataclass(frozen=True)
class Figure:
    """A figure of a single prediction, as `wardround predict` prints it."""

    key: str
    title: str
    digits: int = 1


@dataclass(frozen=True)
class Vocabulary:
    """One workload's words.

    Args:
        families: of its records and tallies.
        codes: reasons and notes to words.
        arms: titles of arms that mean something of its own here, such as `reference`.
        short_arms: the same for a narrow column.
        predicted: the heading of a prediction's figures.
        figures: of a prediction, in reading order.
        what_stays: what is not sent, in the words of this kind of data.
        console_title, console_families: heading and families of the table by hospital at the end of a run; without
            families, the key metric's.
    """

    families: tuple[Family, ...]
    codes: Mapping[str, str] = field(default_factory=dict)
    arms: Mapping[str, str] = field(default_factory=dict)
    short_arms: Mapping[str, str] = field(default_factory=dict)
    predicted: str = "prediction"
    figures: tuple[Figure, ...] = ()
    what_stays: str = "Cases, their file names and lists of figures by case"
    console_title: str = "Figures"
    console_families: tuple[str, ...] = ()
