"""Charts and pictures of a site's data, as plain data. They show patients, so they stay with the site's admin."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Distribution:
    """How often a column has which values, split by split.

    Args:
        title: the column, with its unit.
        labels: of the bars: a category, or the range of a bin.
        counts: split to how many rows each bar has.
        missing: split to how many rows have no value.
    """

    title: str
    labels: tuple[str, ...]
    counts: Mapping[str, tuple[int, ...]]
    missing: Mapping[str, int]


@dataclass(frozen=True)
class Picture:
    """An example.

    Args:
        caption: what it shows.
        png: the file's content.
    """

    caption: str
    png: bytes


@dataclass(frozen=True)
class Illustrations:
    """All of them; empty where a workload draws none."""

    distributions: tuple[Distribution, ...] = ()
    pictures: tuple[Picture, ...] = ()
