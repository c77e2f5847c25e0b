"""What is found while a table is read: problems, doubts and remarks, with many of one kind told as one."""

from collections.abc import Callable

import numpy as np
import polars as pl

from wardround.records.reasons import Reason, WardroundError

TOLD_IN_FULL = 5
_DOUBTFUL_SHARE = 0.05
_DOUBTFUL_COUNT = 2
_SHOWN = 8


class Findings:
    """Collects what there is to say of one source.

    Of one fault in one column, five values are told one by one and the others together, as one more problem: six
    problems at most, however many rows have it. What a site reports of `problems` by code counts these.

    Args:
        source: its name, which starts every message.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.problems: list[WardroundError] = []
        self.doubts: list[WardroundError] = []
        self.remarks: list[WardroundError] = []

    def faulty(self, code: Reason, column: str, faults: pl.Series, rows: np.ndarray, tell: Callable[[int], str]) -> int:
        """Adds the rows at which `faults` is true.

        Args:
            code: of the fault.
            column: of the source that has it; empty where it is about the row.
            faults: one truth value a row.
            rows: the rows' numbers in the source.
            tell: from a position to what is wrong there and what was expected.

        Returns:
            How many there are.
        """
        positions = np.flatnonzero(faults.fill_null(False).to_numpy())
        where = f", column {column}" if column else ""
        for position in positions[:TOLD_IN_FULL].tolist():
            self.problems.append(WardroundError(code, f"{self.source}, row {rows[position]}{where}: {tell(position)}"))
        more = len(positions) - TOLD_IN_FULL
        if more > 0:
            text = (
                f"{more} more {'row' if more == 1 else 'rows'} with this fault, the last is row {rows[positions[-1]]}"
            )
            self.problems.append(WardroundError(code, f"{self.source}{where}: {text}"))
        return len(positions)

    def doubt(self, code: Reason, message: str) -> None:
        """Adds what makes the table unfit for a study until somebody has looked at it."""
        self.doubts.append(WardroundError(code, f"{self.source}: {message}"))

    def remark(self, code: Reason, message: str) -> None:
        """Adds what an admin should know."""
        self.remarks.append(WardroundError(code, f"{self.source}: {message}"))


def values_of(text: pl.Series) -> str:
    """The first of a column's values, for a message on what was looked for and is not among them."""
    found = text.drop_nulls().unique().sort()
    return (", ".join(found.head(_SHOWN).to_list()) or "no value") + (", ..." if len(found) > _SHOWN else "")


def too_many(count: int, among: int) -> bool:
    """Whether faults are more than slips of the pen: above 5 %, and more than one."""
    return count >= _DOUBTFUL_COUNT and count > _DOUBTFUL_SHARE * among
