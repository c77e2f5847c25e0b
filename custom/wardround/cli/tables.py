"""The end of a run on the console: the answer, then tables that fit 80 columns."""

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from wardround.cli.shown_figures import names_by_family, own_rows
from wardround.cli.table_notes import notes_on
from wardround.records.arms import ALONE, BEST, LAST, PERSONALISED, POOLED, alone_at
from wardround.records.metric_record import MetricRecord, Status
from wardround.reporting.answer import answer
from wardround.reporting.measure import DASH, Measure
from wardround.reporting.model import ArmScore, Summary
from wardround.reporting.resumptions import in_one_line
from wardround.reporting.words import Words

_COLORS = {"better": "green", "worse": "red", "not_shown": "dim", "too_few": "dim", "unknown": "dim"}
_WORDS = {"better": "better", "worse": "worse", "not_shown": "not shown", "too_few": "too few", "unknown": DASH}
_NOT_KEPT = "not kept"


def print_summary(console: Console, summary: Summary) -> None:
    """The answer, sites by arm, every figure by hospital, and the differences."""
    if summary.ending.status != "complete":
        console.print(f"[bold yellow]This run is {summary.ending.status}:[/]", soft_wrap=True)
        for reason in summary.ending.reasons:
            console.print(f"  {summary.words.reason_in_words(reason)}", soft_wrap=True, markup=False)
    for fact in summary.resumptions:
        console.print(f"{in_one_line(fact)}.", soft_wrap=True, markup=False)
    if not summary.table:
        return
    _print_trimmed(console, Text(answer(summary)), soft_wrap=not console.is_terminal)
    tables = [_arms(summary), *_away(console, summary), _figures(summary)]
    if summary.comparisons:
        tables.append(_differences(summary))
    starred = []
    for table in tables:
        console.print()
        starred.append("*" in _print_trimmed(console, table))
    console.print()
    for note in notes_on(summary, low_support=any(starred)):
        console.print(note, style="dim", soft_wrap=not console.is_terminal)


def figure(record: MetricRecord | None, words: Words) -> str:
    """A value in its metric's digits, a dash where there is none; `*` marks low support."""
    if record is None or record.value is None:
        return DASH
    text = words.measure(record.name).text(record.value)
    return f"{text}*" if record.status is Status.LOW_SUPPORT else text


def _print_trimmed(console: Console, content: Table | Text, *, soft_wrap: bool = False) -> str:
    """Prints without blanks at the ends of lines, which rich adds; returns the plain text."""
    with console.capture() as capture:
        console.print(content, soft_wrap=soft_wrap)
    lines = Text.from_ansi(capture.get().rstrip("\n")).split()
    for line in lines:
        line.rstrip()
        if line.plain:
            console.print(line, soft_wrap=True)
    return "\n".join(line.plain for line in lines)


def _arms(summary: Summary) -> Table:
    words = summary.words
    key = words.measure(summary.study.key_metric)
    overall = {row.arm: row for row in summary.overall if row.metric == key.name}
    arms = [arm for arm in (BEST, LAST, PERSONALISED, ALONE, POOLED) if arm in overall]
    arms = [arm for arm in arms if not (arm == LAST and summary.best_is_last())]
    table = _table(f"{key.title}, test cases", "hospital")
    for arm in arms:
        table.add_column(words.arm_head(arm), justify="right")
    training = summary.training_sites()
    for site in summary.sites:
        outside = site.role != "train"
        table.add_row(
            f"{site.name} (outside)" if outside else site.name,
            *(
                _NOT_KEPT
                if summary.not_kept(arm, site.name)
                else figure(summary.records_at(arm, site.name).get(key.name), words)
                for arm in arms
            ),
        )
        if training and site.name == training[-1]:
            rows = [overall[arm] for arm in arms]
            means = [DASH if row.mean is None else key.text(row.mean) + _of(row.sites, row.left_out) for row in rows]
            table.add_row("mean of these", *means, style="bold")
            table.add_row("worst of these", *(DASH if row.worst is None else key.text(row.worst) for row in rows))
    return table


def _of(sites: list[str], left_out: dict[str, str]) -> str:
    return f" ({len(sites)} of {len(sites) + len(left_out)})" if left_out else ""


def _away(console: Console, summary: Summary) -> list[Table]:
    """Each hospital's own model at the others; left to the page where it is too wide."""
    key = summary.words.measure(summary.study.key_metric)
    table = _table("Each hospital's own model, tested at", "model of")
    for site in summary.sites:
        table.add_column(site.name, justify="right")
    for home in (row for row in summary.table if row.at_home):
        cells = (figure(summary.records_at(home.arm, site.name).get(key.name), summary.words) for site in summary.sites)
        table.add_row(home.site, *cells)
    fits = console.measure(table).minimum <= console.width
    return [table] if table.row_count and fits else []


def _figures(summary: Summary) -> Table:
    words, by_family = summary.words, names_by_family(summary)
    first, *_ = by_family
    columns = [name for own in by_family.values() for name in own]
    table = _table(words.vocabulary.console_title, "hospital, test cases")
    for key, own in by_family.items():
        for name in own:
            table.add_column(_head(words.measure(name), first=key == first), justify="right")
    for site in summary.sites:
        rows = [row for row in own_rows(summary) if row.site == site.name]
        if rows:
            table.add_row(f"{site.label}: {_support(rows[0], by_family[first], words)}", style="bold")
        for index, row in enumerate(rows):
            kept = not summary.not_kept(row.arm, site.name)
            head = words.arm_head(ALONE if row.at_home else row.arm)
            table.add_row(
                f"  {head}" if kept else f"  {head}, {_NOT_KEPT}",
                *(figure(row.records.get(name), words) for name in columns if kept),
                end_section=index == len(rows) - 1,
            )
    return table


def _head(name: Measure, *, first: bool) -> str:
    """A narrow column's head: a part of the first family, or a family with its part below."""
    if name.part:
        return name.short if first else f"{name.family.title}\n{name.short}"
    return name.family.head or name.title.replace(" ", "\n")


def _support(row: ArmScore, names: Sequence[str], words: Words) -> str:
    """`8, ET 6 of 8`: parts that some cases lack are named; `581, 80 positive` where an outcome is predicted.

    What a site holds back tells no count either.
    """
    records = [row.records[name] for name in names if name in row.records]
    records = [record for record in records if record.status is not Status.SUPPRESSED]
    cases = max((record.n for record in records), default=0)
    if any(words.measure(record.name).family.counts_positives for record in records):
        positive = next((record.n_positive for record in records if record.n_positive is not None), None)
        return f"{cases}" if positive is None else f"{cases}, {positive} positive"
    fewer = [
        f"{words.measure(record.name).short} {words.support_text(record)}"
        for record in records
        if words.support_text(record) != f"{cases}"
    ]
    return ", ".join([str(cases), *fewer])


def _differences(summary: Summary) -> Table:
    key, words = summary.study.key_metric, summary.words
    table = _table(f"Paired differences, {words.measure(key).title}, 95 % intervals", "hospital", "difference")
    table.add_column("value", justify="right")
    table.add_column("interval", justify="right")
    table.add_column("reads as")
    for row in summary.comparisons:
        if row.metric != key or (summary.best_is_last() and (row.arm, row.reference) == (BEST, LAST)):
            continue
        if summary.not_kept(row.arm, row.site):  # the same model, so no difference
            continue
        kind, record = words.measure(row.metric), row.difference
        reference = "alone" if row.reference == alone_at(row.site) else words.arm_head(row.reference)
        table.add_row(
            row.site,
            f"{words.arm_head(row.arm)} - {reference}",
            DASH if record.value is None else kind.signed(record.value),
            f"{kind.signed(record.interval[0])} to {kind.signed(record.interval[1])}" if record.interval else DASH,
            words.in_words(record.reason or "") if record.value is None else _WORDS[row.verdict],
            style=_COLORS[row.verdict],
        )
    return table


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table
