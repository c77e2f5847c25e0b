"""Findings of one kind told together: what they share once, and each one's own place and value in a line."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from wardround.records.faults import Where
from wardround.records.inspection import Finding, Severity

_ORDER = list(Severity)


@dataclass(frozen=True)
class FindingGroup:
    """Findings that differ in nothing but key, row, case or file, and in what was found there.

    Args:
        severity, kind, expected, advice: that all of them have.
        place: the file, column and key that all of them are in; empty where they are in several files.
        lines: each one's place within that, and what was found.
        count: how many values, rows or files these are.
    """

    severity: Severity
    kind: str
    place: str
    expected: str
    advice: str
    lines: tuple[str, ...]
    count: int

    @property
    def title(self) -> str:
        """Such as `value_invalid x 12, stays.csv, column Krea`."""
        times = f" x {self.count:,}" if self.count > 1 else ""
        return f"{self.kind}{times}" + (f", {self.place}" if self.place else "")

    def first_lines(self, limit: int = 5) -> list[str]:
        """The first findings in a line each, and how many more there are."""
        told = [": ".join(part for part in (self.place, line) if part) for line in self.lines[:limit]]
        more = self.count_after(self.lines[:limit])
        return [*told, f"{self.place}: {more:,} more".removeprefix(": ")] if more > 0 else told

    def count_after(self, shown: Sequence[str]) -> int:
        """How many values, rows or files are not among the lines that are shown, which tell one each."""
        return max(self.count, len(self.lines)) - len(shown) if len(shown) < len(self.lines) else 0


def group_findings(findings: Iterable[Finding]) -> list[FindingGroup]:
    """Groups in the order of severity, then of their first finding."""
    groups: dict[tuple[str, ...], list[Finding]] = {}
    for one in findings:
        key = (one.severity, one.kind, one.where.column, one.expected, one.advice)
        groups.setdefault(key, []).append(one)
    made = [_group(members) for members in groups.values()]
    return sorted(made, key=lambda group: _ORDER.index(group.severity))


def _group(members: list[Finding]) -> FindingGroup:
    first = members[0]
    files = {one.where.file for one in members}
    in_one = len(files) == 1 and not any(one.where.case for one in members)
    key = first.where.key if len({one.where.key for one in members}) == 1 else ""
    shared = Where(file=first.where.file, column=first.where.column, key=key) if in_one else Where()
    return FindingGroup(
        severity=first.severity,
        kind=str(first.kind),
        place=shared.text,
        expected=first.expected,
        advice=first.advice,
        lines=tuple(_line(one, shared) for one in members),
        count=sum(one.count for one in members),
    )


def _line(one: Finding, shared: Where) -> str:
    """What the group's own place leaves to be said."""
    place = one.where.text
    if shared.file or shared.column or shared.key:
        row = "" if one.where.row is None else f"row {one.where.row}"
        place = ": ".join(part for part in (row, "" if shared.key else one.where.key) if part)
    return f"{place}: {one.found}" if place else one.found
