"""An inspection as a person sees it at a terminal, and as a file gets it."""

from io import StringIO

import pytest
from rich.console import Console

from wardround.cli.finding_table import print_inspection, verdict
from wardround.records.faults import fault
from wardround.records.inspection import Finding, Inspection, Severity
from wardround.records.reasons import Reason


@pytest.mark.parametrize("terminal", [True, False])
def test_a_long_line_goes_on_below_its_own_beginning_at_a_terminal_and_is_whole_in_a_file(terminal: bool) -> None:
    told = fault("word " * 20 + "end", file="/srv/a.nii.gz", advice="copy it again")
    record = Inspection(
        site="hospital-a",
        role="train",
        study="brain_tumor",
        time="2026-11-30T09:00:00+00:00",
        findings=(Finding.of(Severity.ERROR, Reason.DATA_UNREADABLE, told),),
    )
    stream = StringIO()
    console = Console(file=stream, width=60, force_terminal=terminal, color_system=None)
    print_inspection(console, record, everything=False)
    lines = stream.getvalue().splitlines()
    begin = next(place for place, line in enumerate(lines) if "word" in line)
    assert "data_unreadable, /srv/a.nii.gz" in lines[begin - 1]
    indent = lines[begin].index("word")
    assert indent == lines[begin - 1].index("data_unreadable") + 2
    if terminal:
        assert lines[begin + 1].index("word") == indent
        assert lines[begin + 2].index("end") > indent
    else:
        assert lines[begin].endswith("word end")
    assert next(line for line in lines if "what to do" in line).index("what to do: copy it again") == indent


def _found(errors: int = 0, warnings: int = 0, notes: int = 0, **more: object) -> Inspection:
    severities = [Severity.ERROR] * errors + [Severity.WARNING] * warnings + [Severity.NOTE] * notes
    findings = tuple(
        Finding.of(severity, Reason.DATA_UNREADABLE, fault(f"found {place}", file=f"{place}.nii.gz"))
        for place, severity in enumerate(severities)
    )
    given = {"site": "a", "role": "train", "study": "s", "time": "2026-11-30T09:00:00+00:00", "findings": findings}
    return Inspection.model_validate({**given, **more})


@pytest.mark.parametrize(
    ("record", "told"),
    [
        (_found(), "a, s: fit; 0 errors, nothing left out, 0 notes"),
        (_found(errors=1, notes=1), "a, s: NOT fit; 1 error, nothing left out, 1 note"),
        (_found(warnings=2, notes=2), "a, s: fit; 0 errors, 2 left out or missing, 2 notes"),
    ],
)
def test_the_verdict_says_whether_the_site_is_fit_and_counts_in_words(record: Inspection, told: str) -> None:
    assert verdict(record) == told


@pytest.mark.parametrize(("warnings", "everything", "more"), [(5, False, ""), (7, False, "and 2 more"), (7, True, "")])
def test_the_first_five_of_a_kind_are_told_unless_all_are_asked_for(warnings: int, everything: bool, more: str) -> None:
    stream = StringIO()
    record = _found(warnings=warnings, counts={"train_cases": 1234} if everything else {})
    print_inspection(Console(file=stream, color_system=None), record, everything=everything)
    output = stream.getvalue()
    assert output.count(": found") == (warnings if everything else 5)
    assert ("see --all" in output) == bool(more)
    assert more in output
    assert ("count" in output, "1,234" in output) == (everything, everything)
