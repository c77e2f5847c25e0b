"""Ids of a list of who opted out that are a patient's but for how they are written: they would leave nobody out."""

import re
import unicodedata
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import NamedTuple

from wardround.records.faults import fault
from wardround.records.reasons import Reason, WardroundError

MARK = "="  # in front of an id that somebody has looked up: it is a patient's without data here, written so
_SEPARATORS = ",;\t|"
_QUOTES = "\"'"
_ROUNDED = re.compile(r"\d[.,]\d+[eE]\+\d+")  # what a spreadsheet makes of a long number
_PARTS = re.compile(r"\d+|[^\W\d_]+")
_SHOWN = 5
_KEEP = f"if it is that of somebody else who opted out, keep it with {MARK} in front"


class Line(NamedTuple):
    """Where an id stands in a list, from 1, and whether it has the mark that somebody has looked it up."""

    number: int
    marked: bool = False


def refuse_other_spellings(
    file: Path, listed: Mapping[str, Line], patients: Collection[str], *, others: Collection[str] = ()
) -> None:
    """Looks at every id that is no patient's, as somebody who has no data here has one too.

    One is taken for a patient's if only zeros in front, capitals, accents' encoding or signs between letters and
    digits tell them apart: 007 and 7, p-12 and P12, and 7.0 of a spreadsheet. A line with a separator or in quotes is
    taken for a row of a table, unless ids of the data have that sign there. One that is marked as looked up may be
    like a patient's, or a row's id: it stays on the list, so that who opted out is left out once there is data. Where
    ids of the data begin with that mark it marks nothing.

    Args:
        file: the list.
        listed: ids and where they stand.
        patients: of the data.
        others: ids of rows or cases. They are not looked at where some are a patient's too, such as numbers from 1.

    Raises:
        WardroundError: there are some. Lines are told, not ids.
    """
    known = set(patients)
    unknown = {one: line.number for one, line in listed.items() if one not in known}
    if not unknown:
        return
    separators = set(_SEPARATORS).difference(*known)
    quotes = set(_QUOTES).difference(*map(_ends, known))  # a name may have an apostrophe within: O'Brien
    rows = [line for one, line in unknown.items() if separators & set(one) or quotes & set(_ends(one))]
    rounded = [line for one, line in unknown.items() if _ROUNDED.fullmatch(one)]
    spellings = {_spelling(one) for one in known} - {()}
    marks = not any(one.startswith(MARK) for one in known)
    doubtful = {one: line for one, line in unknown.items() if not (marks and listed[one].marked)}
    otherwise = [line for one, line in doubtful.items() if _spelling(one) in spellings]
    apart = set(others) if known.isdisjoint(others) else set()
    of_rows = [line for one, line in doubtful.items() if one in apart]
    faults = [
        fault(f"{_lines(lines)}: {found}", file=file, key="opt_out_file", expected=expected, advice=advice)
        for lines, found, expected, advice in (
            (rows, "more than an id, as in a table", "a patient's id and nothing else", "write the ids alone"),
            (rounded, "a number that a spreadsheet rounded", "the whole id", "export the column as text"),
            (
                [line for line in otherwise if line not in rows],
                "a patient's id, but written otherwise than in the data",
                "every zero, letter and sign as in the data",
                f"write it so; {_KEEP}",
            ),
            (of_rows, "the id of a row or case", "the patient's id", f"write the patient's; {_KEEP}"),
        )
        if lines
    ]
    if faults:
        raise WardroundError(Reason.DATA_UNREADABLE, *faults)


def alike(one: str, other: str) -> bool:
    """Whether two ids are the same but for how they are written; false where an id has no letter and no digit."""
    return bool(_spelling(one)) and _spelling(one) == _spelling(other)


def _ends(text: str) -> str:
    return text[:1] + text[-1:]


def _spelling(text: str) -> tuple[str, ...]:
    """What an id is made of, whatever the signs between: digits without zeros in front, and letters in one form."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    plain = "".join(sign for sign in plain if unicodedata.category(sign) != "Cf")  # such as spaces of no width
    plain = re.sub(r"(?<=\d)[.,]0+$", "", plain.strip(" \t" + _QUOTES))
    return tuple(part.lstrip("0") or "0" if part.isdigit() else part for part in _PARTS.findall(plain))


def _lines(numbers: list[int]) -> str:
    shown = ", ".join(map(str, numbers[:_SHOWN]))
    more = f" and {len(numbers) - _SHOWN} more" if len(numbers) > _SHOWN else ""
    return f"line{'' if len(numbers) == 1 else 's'} {shown}{more}"
