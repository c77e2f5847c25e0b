import pickle

import pytest

from wardround.records.faults import Fault, Where, bounded, fault
from wardround.records.finding_groups import group_findings
from wardround.records.inspection import Finding, Findings, Inspection, Severity
from wardround.records.reasons import Reason, WardroundError

LATE = fault("5", file="t.csv", row=3, column="age", expected="18 to 110 years", advice="correct it")


def _finding(severity: Severity, kind: Reason, *, count: int = 1, **where: object) -> Finding:
    return Finding.of(severity, kind, fault("x", count=count, **where))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("where", "text"),
    [
        (Where(), ""),
        (Where(file="t.csv", row=3, column="age"), "t.csv, row 3, column age"),
        (Where(file="site.yaml", key="columns.age.unit"), "site.yaml: columns.age.unit"),
        (Where(case="P-1"), "P-1"),
        (Where(file="/data/P-1/t1c.nii.gz", case="P-1"), "/data/P-1/t1c.nii.gz"),
    ],
)
def test_a_place_in_words(where: Where, text: str) -> None:
    assert where.text == text


def test_an_error_keeps_its_parts_tells_them_in_a_line_each_and_crosses_to_another_process() -> None:
    error = WardroundError(Reason.VALUE_IMPLAUSIBLE, LATE, "all of it")
    again = pickle.loads(pickle.dumps(error))
    for one in (error, again):
        assert one.code is Reason.VALUE_IMPLAUSIBLE
        assert one.faults == (LATE, Fault(found="all of it"))
        assert str(one) == "t.csv, row 3, column age: 5, expected 18 to 110 years; correct it\nall of it"


def test_a_message_of_many_faults_is_bounded_and_the_error_has_them_all() -> None:
    error = WardroundError(Reason.COLUMN_MISSING, *(f"fault {number}" for number in range(50)))
    assert str(error).splitlines()[-2:] == ["fault 19", "... and 30 more"]
    assert len(error.faults) == 50


def test_many_faults_are_told_as_the_first_and_how_many_more() -> None:
    many = bounded([fault(str(number)) for number in range(250)])
    assert [one.found for one in (many[0], many[99], many[100])] == ["0", "99", "150 more of this kind"]
    assert sum(one.count for one in many) == 250
    assert len(bounded(many[:3])) == 3


def test_counts_by_kind_count_places_and_not_findings() -> None:
    found = Findings(
        [
            _finding(Severity.WARNING, Reason.VALUE_INVALID),
            _finding(Severity.WARNING, Reason.VALUE_INVALID, count=41),
            _finding(Severity.WARNING, Reason.TOO_FEW_CASES, count=0),
            _finding(Severity.NOTE, Reason.ROW_EXCLUDED, count=7),
        ]
    )
    assert found.count_by_kind(Severity.WARNING) == {"value_invalid": 42}
    assert found.count_by_kind(Severity.NOTE) == {"row_excluded": 7}
    found.refuse()  # nothing in it is an error


def test_errors_end_it_with_the_code_of_the_first_and_the_text_of_all() -> None:
    found = Findings([_finding(Severity.NOTE, Reason.ROW_EXCLUDED)])
    told = WardroundError(Reason.CASE_DUPLICATED, "twice", found[0])
    every = Findings([*found, *Findings.of_errors([told, WardroundError(Reason.MASK_INVALID, LATE)], Severity.ERROR)])
    assert [one.severity for one in every] == [Severity.NOTE, Severity.ERROR, Severity.NOTE, Severity.ERROR]
    with pytest.raises(WardroundError, match=r"^twice\nt\.csv, row 3") as raised:
        every.refuse()
    assert raised.value.code is Reason.CASE_DUPLICATED


def test_an_inspection_is_usable_without_errors_and_comes_back_from_json() -> None:
    def record(*findings: Finding) -> Inspection:
        return Inspection(site="a", role="train", study="s", time="2026-11-30T00:00:00+00:00", findings=findings)

    fit = record(_finding(Severity.WARNING, Reason.VALUE_INVALID, count=3))
    assert (fit.usable, fit.left_out) == (True, 3)
    assert not record(_finding(Severity.ERROR, Reason.VALUE_INVALID)).usable
    assert fit.model_dump(mode="json")["usable"] is True
    assert fit.model_dump(mode="json")["findings"][0]["kind"] == "value_invalid"


def test_groups_share_what_is_alike_and_come_by_severity() -> None:
    rows = [
        Finding.of(Severity.WARNING, Reason.VALUE_INVALID, fault(str(row), file="t.csv", row=row, column="age"))
        for row in range(8)
    ]
    files = [
        Finding.of(Severity.ERROR, Reason.MASK_INVALID, fault("0, 255", file=f"/d/{case}/seg.nii.gz", case=case))
        for case in ("P-1", "P-2")
    ]
    keys = [
        Finding.of(Severity.NOTE, Reason.COLUMN_MISSING, fault(found, file="site.yaml", key=f"columns.{name}"))
        for name, found in (("age", "no Alter"), ("sex", "no sex"))
    ]
    masks, values, columns = group_findings([*keys, *rows, *files])
    assert (columns.title, columns.lines) == (
        "column_missing x 2, site.yaml",
        ("columns.age: no Alter", "columns.sex: no sex"),
    )
    assert (values.title, values.lines[3]) == ("value_invalid x 8, t.csv, column age", "row 3: 3")
    assert values.first_lines(2) == [
        "t.csv, column age: row 0: 0",
        "t.csv, column age: row 1: 1",
        "t.csv, column age: 6 more",
    ]
    assert (masks.title, masks.lines) == (
        "mask_invalid x 2",
        ("/d/P-1/seg.nii.gz: 0, 255", "/d/P-2/seg.nii.gz: 0, 255"),
    )
