"""An inspection as a person sees it at a terminal, and as a file gets it."""

from io import StringIO

import pytest
from rich.console import Console

from wardround.cli.finding_table import print_inspection
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
