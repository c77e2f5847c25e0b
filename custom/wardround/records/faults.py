"""A fault in parts: where it is, what was found, what was expected, what to do. One line of text is made from them."""

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict

from wardround.records.printable import printable


def _shown(value: Any) -> Any:
    return printable(value) if isinstance(value, str) else value


_Shown = Annotated[str, BeforeValidator(_shown)]  # names and values come from files, and go to terminals and pages


class Where(BaseModel):
    """A place in a site's files. What does not apply is left empty.

    Args:
        file: its path or name, or what else rows come from, such as `the query`.
        key: of a file of settings, such as `columns.age.unit`.
        case: the case's id.
        row: of a table, from 1, without a header.
        column: of a table.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    file: _Shown = ""
    key: _Shown = ""
    case: _Shown = ""
    row: int | None = None
    column: _Shown = ""

    @property
    def text(self) -> str:
        """Such as `stays.csv, row 3, column Krea` or `site.yaml: columns.age.unit`; a file stands for its case."""
        parts = [
            self.file or self.case,
            "" if self.row is None else f"row {self.row}",
            f"column {self.column}" if self.column else "",
        ]
        place = ", ".join(part for part in parts if part)
        return ": ".join(part for part in (place, self.key) if part)


class Fault(BaseModel):
    """One thing that is wrong, or worth knowing.

    Args:
        found: what is there.
        where: the place.
        expected: what should be there; empty where `found` says it all.
        advice: what becomes of it, and what to do.
        count: how many places of the same kind it stands for; 0 for a further fault of what another one counts, and for
            a doubt of which nothing is left out.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    found: _Shown
    where: Where = Where()
    expected: _Shown = ""
    advice: _Shown = ""
    count: int = 1

    @property
    def text(self) -> str:
        """All of it in one line: `where: found, expected this; do that`."""
        told = f"{place}: {self.found}" if (place := self.where.text) else self.found
        if self.expected:
            told += f", expected {self.expected}"
        return f"{told}; {self.advice}" if self.advice else told

    def __str__(self) -> str:
        return self.text


def fault(
    found: str,
    *,
    file: object = "",
    key: str = "",
    case: str = "",
    row: int | None = None,
    column: str = "",
    expected: str = "",
    advice: str = "",
    count: int = 1,
) -> Fault:
    """A fault from its parts; `file` may be a path."""
    where = Where(file=str(file), key=key, case=case, row=row, column=column)
    return Fault(found=found, where=where, expected=expected, advice=advice, count=count)


def bounded(faults: Sequence[Fault], limit: int = 100) -> list[Fault]:
    """The first faults of one kind, and one that counts the others."""
    more = len(faults) - limit
    return [*faults[:limit], *([fault(f"{more} more of this kind", count=more)] if more > 0 else [])]
