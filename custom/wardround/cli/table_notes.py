"""What stands below the tables at the end of a run: the signs in them, in words."""

from wardround.cli.shown_figures import names_by_family, own_rows
from wardround.records.arms import BEST
from wardround.reporting.measure import DASH
from wardround.reporting.model import Summary


def notes_on(summary: Summary, *, low_support: bool) -> list[str]:
    """One line a sign that occurs.

    Args:
        low_support: whether a figure has a star.
    """
    notes = ["* on too few cases to rank: in no mean, and never the worst"] if low_support else []
    notes += _absent(summary)
    if summary.best_is_last():
        notes.append("last: same model as best")
    for site in summary.sites:
        if site.role != "train":
            codes = next((row.notes for row in summary.table if (row.arm, row.site) == (BEST, site.name)), [])
            notes += [f"{site.name}, federated: {summary.words.in_words(code)}" for code in codes]
    return notes


def _absent(summary: Summary) -> list[str]:
    """Why figures of the table by hospital are dashes: the reasons, and where."""
    names = [name for own in names_by_family(summary).values() for name in own]
    records = [
        (row.site, record)
        for row in own_rows(summary)
        for name in names
        if (record := row.records.get(name)) is not None
    ]
    reasons: dict[str, dict[str, None]] = {}
    for site, record in records:
        if record.value is None and record.reason:
            reasons.setdefault(record.reason, {})[site] = None
    return [f"{DASH} at {', '.join(sites)}: {summary.words.in_words(reason)}" for reason, sites in reasons.items()]
