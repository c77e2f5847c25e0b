"""What is found while a table is read, with the many places of one fault bounded."""

from collections.abc import Callable, Iterable

import numpy as np
import polars as pl

from wardround.records.faults import fault
from wardround.records.inspection import Finding, Findings, Severity
from wardround.records.reasons import Reason

TOLD_IN_FULL = 100
_DOUBTFUL_SHARE = 0.05
_DOUBTFUL_COUNT = 2
_SHOWN = 8
_LONGEST = 60


class TableFindings:
    """Collects what there is to say of one source.

    Of one fault in one column, `TOLD_IN_FULL` values are told one by one and the others together, as one more finding
    that counts them: a million faulty values take no more room than a hundred.

    Args:
        source: its name, the file of every finding.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self._found: list[Finding] = []

    @property
    def found(self) -> Findings:
        """All of them so far."""
        return Findings(self._found)

    def faulty(
        self,
        kind: Reason,
        column: str,
        faults: pl.Series,
        rows: np.ndarray,
        found: Callable[[int], str],
        *,
        expected: str = "",
        advice: str,
    ) -> int:
        """Adds a warning for each row at which `faults` is true.

        Args:
            kind: of the fault.
            column: of the source that has it; empty where it is about the row.
            faults: one truth value a row.
            rows: the rows' numbers in the source.
            found: from a position to what is there.
            expected: what should be there.
            advice: what becomes of the value or row, and what to do.

        Returns:
            How many there are.
        """
        positions = np.flatnonzero(faults.fill_null(False).to_numpy())
        for position in positions[:TOLD_IN_FULL].tolist():
            told, row = found(position), int(rows[position])
            self._add(Severity.WARNING, kind, told, column=column, row=row, expected=expected, advice=advice)
        more = len(positions) - TOLD_IN_FULL
        if more > 0:
            told = (
                f"{more} more {'row' if more == 1 else 'rows'} with this fault, the last is row {rows[positions[-1]]}"
            )
            self._add(Severity.WARNING, kind, told, column=column, expected=expected, advice=advice, count=more)
        return len(positions)

    def error(self, kind: Reason, found: str, *, column: str = "", expected: str = "", advice: str = "") -> None:
        """Adds what makes the table unfit for a study until somebody has looked at it."""
        self._add(Severity.ERROR, kind, found, column=column, expected=expected, advice=advice)

    def note(self, kind: Reason, found: str, *, column: str = "", advice: str = "", count: int = 1) -> None:
        """Adds what an admin should know."""
        self._add(Severity.NOTE, kind, found, column=column, advice=advice, count=count)

    def add(self, findings: Iterable[Finding]) -> None:
        """Adds what was found elsewhere."""
        self._found += findings

    def _add(
        self,
        severity: Severity,
        kind: Reason,
        found: str,
        *,
        column: str = "",
        row: int | None = None,
        expected: str = "",
        advice: str = "",
        count: int = 1,
    ) -> None:
        made = fault(found, file=self.source, column=column, row=row, expected=expected, advice=advice, count=count)
        self._found.append(Finding.of(severity, kind, made))


def values_of(text: pl.Series) -> str:
    """The first of a column's values, for a message on what was looked for and is not among them."""
    found = text.drop_nulls().unique().sort()
    return (", ".join(map(cut, found.head(_SHOWN).to_list())) or "no value") + (", ..." if len(found) > _SHOWN else "")


def cut(value: object) -> str:
    """A value of a table in one line of a message, however long it is."""
    text = " ".join(str(value).splitlines())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}... ({len(text)} characters)"


def too_many(count: int, among: int) -> bool:
    """Whether faults are more than slips of the pen: above 5 %, and more than one."""
    return count >= _DOUBTFUL_COUNT and count > _DOUBTFUL_SHARE * among
