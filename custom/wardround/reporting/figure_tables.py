"""The page's tables of figures by site: every figure, and beside it those by another convention."""

from dataclasses import dataclass, field

from wardround.records.arms import LAST, is_alone
from wardround.reporting.model import ArmScore, SiteFacts, Summary


@dataclass(frozen=True)
class Block:
    """One site's rows of a table, each a title, its remarks and its records by name."""

    site: SiteFacts
    rows: list[ArmScore]


@dataclass(frozen=True)
class FigureTable:
    """Figures of models by site.

    Args:
        columns: names of records, in reading order.
        about_outcome: whether they are about who has an outcome, so that a row has one count of patients with it.
        remark: how many cases a figure is of, where that can be fewer than all.
        empty: names without a value in any row, which need no column.
    """

    columns: list[str]
    blocks: list[Block]
    about_outcome: bool = False
    remark: str = ""
    empty: list[str] = field(default_factory=list)


def figure_table(summary: Summary) -> FigureTable:
    """The families that the workload's vocabulary names, or all that the record has, the key metric's first.

    A figure by part stands beside every hospital's own model; one about an outcome only beside the site's own, since
    it has an interval in each cell.
    """
    words = summary.words
    names = names_by_family(summary)
    aside = words.vocabulary.beside.families if words.vocabulary.beside else ()
    chosen = words.vocabulary.page_families or tuple(key for key in names if key not in aside)
    columns = [name for key in chosen for name in names.get(key, [])]
    families = list(dict.fromkeys(words.measure(name).family for name in columns))
    about_outcome = any(family.counts_positives for family in families)
    partly = [family for family in families if family.counted_where]
    remark = ""
    if partly:
        titles = " and ".join(family.title for family in partly)
        means = "are means" if len(partly) > 1 else "is the mean"
        remark = f"n 6 of 8: {titles} {means} over the 6 of 8 test cases {partly[0].counted_where}."
    blocks = [
        Block(
            site,
            rows_at_home(summary, site.name)
            if about_outcome
            else [row for row in _shown(summary) if row.site == site.name],
        )
        for site in summary.sites
    ]
    return FigureTable(columns, blocks, about_outcome, remark)


def beside_table(summary: Summary) -> FigureTable:
    """The families that the vocabulary keeps apart from the others; without columns where it names none."""
    beside = summary.words.vocabulary.beside
    names = names_by_family(summary)
    told = [name for key in (beside.families if beside else ()) for name in names.get(key, [])]
    valued = {name for row in summary.table for name, record in row.records.items() if record.value is not None}
    return FigureTable(
        [name for name in told if name in valued],
        [Block(site, rows_at_home(summary, site.name)) for site in summary.sites],
        empty=[name for name in told if name not in valued],
    )


def names_by_family(summary: Summary) -> dict[str, list[str]]:
    """Record names of the table by family key, each in reading order; the key metric's family comes first."""
    words = summary.words
    families: dict[str, list[str]] = {words.measure(summary.study.key_metric).family.key: []}
    for name in dict.fromkeys(name for row in summary.table for name in row.records):
        families.setdefault(words.measure(name).family.key, []).append(name)
    return {family: words.in_reading_order(names) for family, names in families.items() if names}


def rows_at_home(summary: Summary, site: str) -> list[ArmScore]:
    """A site's rows without other hospitals' own models, and without `last` where that is `best`."""
    return [row for row in _shown(summary) if row.site == site and (row.at_home or not is_alone(row.arm))]


def _shown(summary: Summary) -> list[ArmScore]:
    return [row for row in summary.table if not (row.arm == LAST and summary.best_is_last())]
