"""An inspection on the console: counts, then findings by kind."""

from collections.abc import Sequence

from rich import box
from rich.console import Console, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from wardround.records.finding_groups import FindingGroup, group_findings
from wardround.records.inspection import Finding, Inspection, Severity

FIRST = 5  # of one kind, unless all are asked for
_COLORS = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.NOTE: "dim"}


def print_inspection(console: Console, record: Inspection, *, everything: bool) -> None:
    """Counts as training will use them, findings from errors to notes, and whether the site is fit.

    Args:
        console: where to.
        record: what was found.
        everything: each finding that was kept, not the first of each kind alone.
    """
    _print(console, f"{record.site} ({record.role}), study {record.study}")
    if record.counts:
        counts = Table("what", "count", box=box.SIMPLE_HEAD)
        for name, count in record.counts.items():
            counts.add_row(name.replace("_", " "), f"{count:,}")
        console.print(counts)
    groups = group_findings(record.findings)
    told = [(group.severity, _told(group, everything=everything)) for group in groups]
    if told and console.is_terminal:
        table = Table("", "finding", box=box.SIMPLE_HEAD)
        for severity, (title, *lines) in told:
            within = [Padding(line, (0, 0, 0, 2)) for line in lines]  # a long line goes on below its own beginning
            table.add_row(Text(severity, style=_COLORS[severity]), Group(title, *within))
        console.print(table)
    elif told:  # in a file or pipe each line stays whole, to be searched for
        for severity, (title, *lines) in told:
            text = "\n".join([f"{severity:<8} {title.plain}", *(" " * 11 + line.plain for line in lines)])
            console.print(text, soft_wrap=True, markup=False)
    _print(console, verdict(record))


def print_left_out(console: Console, warnings: Sequence[Finding]) -> None:
    """The first of each kind, in lines, where counts are told elsewhere."""
    for group in group_findings(warnings):
        for line in group.first_lines():
            _print(console, f"left out: {group.kind}: {line}")


def verdict(record: Inspection) -> str:
    """Such as `hospital-a, readmission: fit; 0 errors, 14 left out or missing, 1 note`."""
    found = record.found
    parts = [
        f"{len(found.errors)} error{'' if len(found.errors) == 1 else 's'}",
        f"{record.left_out:,} left out or missing" if found.warnings else "nothing left out",
        f"{len(found.notes)} note{'' if len(found.notes) == 1 else 's'}",
    ]
    fit = ("fit" if record.usable else "NOT fit") + (" by its headers" if record.headers_only else "")
    return f"{record.site}, {record.study}: {fit}; {', '.join(parts)}"


def _told(group: FindingGroup, *, everything: bool) -> list[Text]:
    """The title, and the lines below it."""
    shown = group.lines if everything else group.lines[:FIRST]
    lines = [Text(group.title, style="bold"), *map(Text, shown)]
    if len(shown) < len(group.lines):
        lines.append(Text(f"... and {group.count_after(shown):,} more, see --all", style="dim"))
    for name, part in (("expected", group.expected), ("what to do", group.advice)):
        if part:
            lines.append(Text(f"{name}: {part}", style="italic"))
    return lines


def _print(console: Console, text: str) -> None:
    console.print(text, soft_wrap=True, markup=False, style="bold")
