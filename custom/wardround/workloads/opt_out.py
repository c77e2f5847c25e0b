"""Patients who opted out of research: a list that the hospital keeps, whose patients no workload uses for anything."""

from collections.abc import Collection
from pathlib import Path

from wardround.records.faults import fault
from wardround.records.inspection import Finding, Severity
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.plain_file import refuse_no_file

DESCRIPTION = "patient ids, one a line, of patients who opted out: they are left out of everything"


def read_opt_out(file: Path | None) -> frozenset[str]:
    """The ids of a list: one a line, spaces around it ignored; empty lines and those that start with # say nothing.

    Args:
        file: the list; None where a site has none.

    Raises:
        WardroundError: it cannot be read. Without it nobody knows whom to leave out, so nothing may be used.
    """
    if file is None:
        return frozenset()
    if file.exists():  # what is missing is told below, with what to do
        refuse_no_file(file, key="opt_out_file", expected="a text file in UTF-8 with a patient's id in each line")
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        told = fault(
            f"cannot be read ({getattr(error, 'strerror', None) or error})",
            file=file,
            key="opt_out_file",
            expected="a text file in UTF-8 with a patient's id in each line",
            advice="put it there (an empty one if nobody opted out), or take the key out of site.yaml",
        )
        raise WardroundError(Reason.DATA_MISSING, told) from error
    return frozenset(line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#"))


def opt_out_notes(file: Path | None, listed: Collection[str], found: Collection[str]) -> list[Finding]:
    """What an admin should know of a list, in numbers; they stay at the site, since two of them tell of a patient.

    Args:
        file: the list.
        listed: its ids.
        found: those of them that are in the site's data.
    """
    if file is None:
        return []
    left, unknown = len(set(found)), len(set(listed) - set(found))
    told = [
        fault(f"{left} of {len(listed)} patients of the list are in the data and left out", file=file, count=left),
        fault(
            f"{unknown} of {len(listed)} ids of the list are no patient of this data",
            file=file,
            count=unknown,
            advice="nothing has to be done if they have no data here; an id written otherwise leaves nobody out",
        ),
    ]
    return [Finding.of(Severity.NOTE, Reason.OPTED_OUT, one) for one in told if one.count]
