"""The end of a run on the console: the answer, then tables."""

from rich import box
from rich.console import Console
from rich.table import Table

from wardround.records.arms import alone_at
from wardround.records.metric_record import MetricRecord, Status
from wardround.reporting.answer import answer
from wardround.reporting.model import Summary
from wardround.reporting.vocabulary import DASH, in_reading_order, in_words, measure, reason_in_words, short_arm

_COLORS = {"better": "green", "worse": "red", "not_shown": "dim", "too_few": "dim", "unknown": "dim"}
_WORDS = {
    "better": "better",
    "worse": "worse",
    "not_shown": "no difference shown",
    "too_few": "too few cases",
    "unknown": DASH,
}


def print_summary(console: Console, summary: Summary) -> None:
    """The answer, arms by site, every region, and the differences."""
    if summary.ending.status != "complete":
        console.print(f"[bold yellow]This run is {summary.ending.status}:[/]", soft_wrap=True)
        for reason in summary.ending.reasons:
            console.print(f"  {reason_in_words(reason)}", soft_wrap=True, markup=False)
    if not summary.table:
        return
    console.print(answer(summary), markup=False, end="\n\n", soft_wrap=not console.is_terminal)
    console.print(_arms(summary))
    console.print(_regions(summary))
    if summary.comparisons:
        console.print(_differences(summary))
    if any(record.status is Status.LOW_SUPPORT for row in summary.table for record in row.records.values()):
        console.print("* on too few cases to rank: in no mean, and never the worst", style="dim")


def figure(record: MetricRecord | None, digits: int | None = None) -> str:
    """A value in its metric's digits, a dash where there is none; `*` marks low support."""
    if record is None or record.value is None:
        return DASH
    text = measure(record.name).text(record.value) if digits is None else f"{record.value:.{digits}f}"
    return f"{text}*" if record.status is Status.LOW_SUPPORT else text


def _arms(summary: Summary) -> Table:
    key = measure(summary.study.key_metric)
    overall = {(row.arm, row.metric): row for row in summary.overall}
    table = _table(f"{key.title}, test cases", "model")
    for site in summary.sites:
        table.add_column(site.name if site.role == "train" else f"{site.name}\n(outside)", justify="right")
    table.add_column("mean of\ntraining", justify="right")
    table.add_column("worst of them")
    arms = [arm for arm in ("best", "last", "personalised", "alone", "pooled") if (arm, key.name) in overall]
    for arm in arms:
        row = overall[arm, key.name]
        table.add_row(
            short_arm(arm),
            *(figure(summary.records_at(arm, site.name).get(key.name)) for site in summary.sites),
            DASH if row.mean is None else key.text(row.mean) + ("" if not row.left_out else f" ({len(row.sites)})"),
            DASH if row.worst is None else f"{key.text(row.worst)} {row.worst_site}",
            style="bold" if arm == "best" else None,
            end_section=arm == arms[-1],
        )
    for home in (row for row in summary.table if row.at_home):
        cells = (figure(summary.records_at(home.arm, site.name).get(key.name)) for site in summary.sites)
        table.add_row(short_arm(home.arm), *cells, "", "")
    return table


def _regions(summary: Summary) -> Table:
    family = measure(summary.study.key_metric).family
    names = list(dict.fromkeys(name for row in summary.table for name in row.records))
    columns = in_reading_order([name for name in names if measure(name).family == family])
    distances = in_reading_order([name for name in names if measure(name).family.key == "hd95"])
    table = _table(f"{family.title} by part" + (" and HD95 in mm" if distances else ""), "hospital", "model")
    for name in columns:
        table.add_column(measure(name).short, justify="right")
    for name in distances:
        table.add_column(f"HD95\n{measure(name).short}", justify="right")
    table.add_column("cases", justify="right")
    for site in summary.sites:
        rows = [row for row in summary.table if row.site == site.name and (row.at_home or ":" not in row.arm)]
        for index, row in enumerate(rows):
            table.add_row(
                site.name if index == 0 else "",
                short_arm("alone" if row.at_home else row.arm),
                *(figure(row.records.get(name)) for name in [*columns, *distances]),
                str(max((record.n for record in row.records.values()), default=0)),
                style="bold" if row.arm == "best" else None,
                end_section=index == len(rows) - 1,
            )
    return table


def _differences(summary: Summary) -> Table:
    key = summary.study.key_metric
    table = _table(f"Paired differences, {measure(key).title}, 95 % intervals", "hospital", "difference")
    table.add_column("value", justify="right")
    table.add_column("interval", justify="right")
    table.add_column("reads as")
    same = summary.ending.best_round == summary.ending.last_round  # one model, so nothing to compare
    for row in summary.comparisons:
        if row.metric != key or (same and (row.arm, row.reference) == ("best", "last")):
            continue
        kind, record = measure(row.metric), row.difference
        reference = "alone" if row.reference == alone_at(row.site) else short_arm(row.reference)
        table.add_row(
            row.site,
            f"{short_arm(row.arm)} - {reference}",
            DASH if record.value is None else kind.signed(record.value),
            f"{kind.signed(record.interval[0])} to {kind.signed(record.interval[1])}" if record.interval else DASH,
            in_words(record.reason or "") if record.value is None else _WORDS[row.verdict],
            style=_COLORS[row.verdict],
        )
    return table


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    for column in columns:
        table.add_column(column, no_wrap=True)
    return table
