"""Patients who opted out of research: a list that the hospital keeps, whose patients no workload uses for anything."""

import unicodedata
from collections.abc import Collection, Mapping
from pathlib import Path

from wardround.records.faults import fault
from wardround.records.inspection import Finding, Severity
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.opt_out_spelling import MARK, Line, alike, refuse_other_spellings
from wardround.workloads.plain_file import refuse_no_file

DESCRIPTION = "patient ids, one a line, of patients who opted out: they are left out of everything"

_KEY = "opt_out_file"
_EXPECTED = "a text file in UTF-8 with a patient's id in each line"
_LARGEST = 64 << 20  # bytes: millions of ids; whatever is larger is another file, and would fill the memory


def read_opt_out(file: Path | None) -> dict[str, Line]:
    """The ids of a list: one a line, spaces around it ignored; empty lines and those that start with # say nothing.

    `= 7` is the id 7, marked as looked up; see `refuse_other_spellings`.

    Args:
        file: the list; None where a site has none.

    Returns:
        The first line of each id.

    Raises:
        WardroundError: it cannot be read, or is no such list. Without it nobody knows whom to leave out, so nothing may
            be used.
    """
    if file is None:
        return {}
    listed: dict[str, Line] = {}
    for number, line in enumerate(_text(file).splitlines(), 1):
        found = line.strip()
        if any(unicodedata.category(sign) == "Cc" and sign != "\t" for sign in found):  # UTF-16 without its mark, say
            raise _refusal(Reason.DATA_UNREADABLE, file, f"line {number} has signs that are no text", _EXPECTED)
        if found and not found.startswith("#"):
            marked = found.startswith(MARK)
            listed.setdefault(found.removeprefix(MARK).lstrip() or found, Line(number, marked))
    return listed


def opt_out_notes(
    file: Path | None, listed: Mapping[str, Line], patients: Collection[str], *, others: Collection[str] = ()
) -> list[Finding]:
    """What an admin should know of a list, in numbers; they stay at the site, since two of them tell of a patient.

    Args:
        file: the list.
        listed: as `read_opt_out` gives it.
        patients: all of the site's data, those who opted out too.
        others: ids of their rows or cases.

    Raises:
        WardroundError: an id is that of a patient but for how it is written; see `refuse_other_spellings`.
    """
    if file is None:
        return []
    if not listed:
        return [
            _note(file, "the list is empty, so nobody is left out", 1, "nothing has to be done if nobody opted out")
        ]
    refuse_other_spellings(file, listed, patients, others=others)
    left = len(listed.keys() & set(patients))
    unknown = len(listed) - left
    notes = []
    if left:
        notes.append(_note(file, f"{left} of {len(listed)} patients of the list are in the data and left out", left))
    if unknown:
        advice = "nothing has to be done if they have no data here; an id written otherwise leaves nobody out"
        told = f"{unknown} of {len(listed)} ids of the list are no patient of this data"
        notes.append(_note(file, told, unknown, advice))
    return notes


def refuse_opted_out(file: Path | None, patient: str, where: Path) -> None:
    """Refuses what is to be done with one patient's data.

    Raises:
        WardroundError: the patient is on the list, or it cannot be read, or has an id that is this patient's but for
            how it is written.
    """
    if file is None:
        return
    listed = read_opt_out(file)
    if patient in listed:
        told = fault("its patient opted out", file=where, advice=f"nothing is done with it; the list is {file}")
        raise WardroundError(Reason.OPTED_OUT, told)
    refuse_other_spellings(file, {one: line for one, line in listed.items() if alike(one, patient)}, [patient])


def _text(file: Path) -> str:
    try:
        if file.exists():  # what is missing is told below, with what to do
            refuse_no_file(file, key=_KEY, expected=_EXPECTED)
        if (size := file.stat().st_size) > _LARGEST:
            found = f"has {size:,} bytes, which no list of patients has"
            raise _refusal(Reason.DATA_UNREADABLE, file, found, _EXPECTED)
        return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        told = f"cannot be read ({getattr(error, 'strerror', None) or error})"
        advice = ""
        if isinstance(error, FileNotFoundError):
            advice = "put it there, an empty one if nobody opted out"
        elif isinstance(error, PermissionError):
            advice = "let this user read it; until then nobody's data is used"
        raise _refusal(Reason.DATA_MISSING, file, told, _EXPECTED, advice) from error


def _refusal(code: Reason, file: Path, found: str, expected: str, advice: str = "") -> WardroundError:
    advice = advice or "until it can be read nobody's data is used: write it anew"
    return WardroundError(code, fault(found, file=file, key=_KEY, expected=expected, advice=advice))


def _note(file: Path, found: str, count: int, advice: str = "") -> Finding:
    return Finding.of(Severity.NOTE, Reason.OPTED_OUT, fault(found, file=file, count=count, advice=advice))
