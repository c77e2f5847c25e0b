"""What is told of files is shown, never obeyed by a terminal."""

from wardround.records.faults import Fault, Where, fault
from wardround.records.inspection import Finding, Severity
from wardround.records.reasons import Reason, WardroundError

ESCAPE = "\x1b[2J\x1b[31m"


def test_control_characters_are_escaped_in_every_part() -> None:
    told = fault(
        f"found {ESCAPE}",
        file=f"a{ESCAPE}.csv",
        key=ESCAPE,
        case=ESCAPE,
        column=ESCAPE,
        expected=ESCAPE,
        advice=ESCAPE,
    )
    assert "\x1b" not in told.text
    assert "\x1b" not in repr(told)
    assert told.where.file == r"a\x1b[2J\x1b[31m.csv"
    assert "\x1b" not in str(WardroundError(Reason.DATA_UNREADABLE, f"found {ESCAPE}"))
    assert "\x1b" not in Finding.of(Severity.NOTE, Reason.CATEGORY_UNSEEN, f"found {ESCAPE}").text


def test_names_that_are_no_utf_8_can_be_written() -> None:
    told = Fault(found="M\udcfcller", where=Where(file="M\udcfcller"))
    assert told.model_dump_json().encode()
    assert told.text == r"M\xfcller: M\xfcller"
