"""Which figures of a run the console shows by hospital, in how many columns and rows."""

from wardround.records.arms import LAST, is_alone
from wardround.reporting.model import ArmScore, Summary


def names_by_family(summary: Summary) -> dict[str, list[str]]:
    """Names of the figures that the console shows, by their family."""
    words = summary.words
    families = words.vocabulary.console_families or (words.measure(summary.study.key_metric).family.key,)
    names = list(dict.fromkeys(name for row in summary.table for name in row.records))
    return {
        key: words.in_reading_order([name for name in names if words.measure(name).family.key == key])
        for key in families
    }


def own_rows(summary: Summary) -> list[ArmScore]:
    """Scores of what a hospital would use: no other one's own model, and no model twice."""
    rows = [row for row in summary.table if row.at_home or not is_alone(row.arm)]
    return [row for row in rows if not (row.arm == LAST and summary.best_is_last())]
