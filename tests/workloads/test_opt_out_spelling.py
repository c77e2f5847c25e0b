import pytest

from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.opt_out import read_opt_out
from wardround.workloads.opt_out_spelling import refuse_other_spellings


def refused(tmp_path, content: str, patients: list[str], others: tuple[str, ...] = ()) -> str:
    """What is told of a list; empty where it is taken."""
    file = tmp_path / "opted-out.txt"
    file.write_text(content, encoding="utf-8")
    try:
        refuse_other_spellings(file, read_opt_out(file), patients, others=others)
    except WardroundError as error:
        return f"{error.code}: {error}"
    return ""


@pytest.mark.parametrize(
    ("written", "patient"),
    [
        ("007", "7"),
        ("7", "007"),
        ("7.0", "7"),
        ("p 12", "P-12"),
        ("P_0012", "p-12"),
        ("Mu\u0308ller", "Müller"),  # as a Mac writes it
        ("1\u200b2", "12"),  # a space of no width
        ("\uff17", "7"),  # a full-width digit
    ],
)
def test_an_id_written_otherwise_is_told_by_its_line(tmp_path, written, patient):
    told = refused(tmp_path, f"nobody\n{written}\n", [patient, "other"])
    assert told.startswith(Reason.DATA_UNREADABLE)
    assert "line 2: a patient's id, but written otherwise than in the data" in told
    assert "nobody" not in told


@pytest.mark.parametrize(
    ("written", "patient", "others"), [("7", "007", ()), ("1-2", "1.2", ()), ("v2", "p1", ("v2",))]
)
def test_somebody_elses_id_stays_on_the_list_with_a_mark(tmp_path, written, patient, others):
    told = refused(tmp_path, f"{written}\n", [patient], others)
    assert "if it is that of somebody else who opted out, keep it with = in front" in told
    assert "take it out" not in told
    assert not refused(tmp_path, f"= {written}\n", [patient], others)


@pytest.mark.parametrize(
    ("content", "patients"),
    [("=7\n", ["=7"]), ("=7\n", ["007", "=8"]), ("7\n= 7\n", ["007"]), ("=12;\n", ["12"]), ("=1.23457E+11\n", ["12"])],
)
def test_a_mark_hides_nothing_else(tmp_path, content, patients):
    assert "line 1: " in refused(tmp_path, content, patients)


@pytest.mark.parametrize(
    "content", ["patient,date\n12,2026-01-02\n", "12;\n", "12\t2026\n", '"12"\n', "'12'\n", "99,2026\n"]
)
def test_a_table_is_no_list(tmp_path, content):
    assert "more than an id, as in a table" in refused(tmp_path, content, ["12", "13"])


@pytest.mark.parametrize("content", ["'12'\n", "'99'\n", "'99\n", "99'\n"])
def test_quotes_are_a_tables_though_a_name_of_the_data_has_an_apostrophe(tmp_path, content):
    assert "more than an id, as in a table" in refused(tmp_path, content, ["12", "O'Neill"])
    assert not refused(tmp_path, "'99'\n", ["'12'"])


def test_a_number_that_a_spreadsheet_rounded_is_nobodys(tmp_path):
    assert "line 1: a number that a spreadsheet rounded" in refused(tmp_path, "1.23457E+11\n", ["123456789012"])


def test_ids_of_rows_are_no_patients(tmp_path):
    assert "line 2: the id of a row or case" in refused(tmp_path, "p1\nv2\n", ["p1", "p2"], others=("v1", "v2"))
    assert not refused(tmp_path, "p1\n4\n", ["p1", "3"], others=("3", "4"))  # numbers of both


@pytest.mark.parametrize(
    "content",
    ["12\n", "  12 \n\n# 7, by letter\n", "99\n", "1-11\n", "patient_id\n12\n", "Doe, J\n", "O'Brien\n", "d'Arc 7\n"],
)
def test_a_list_is_taken_as_it_is_where_ids_are_those_of_the_data_or_nobodys(tmp_path, content):
    assert not refused(tmp_path, content, ["12", "11-1", "Doe, John"])


def test_lines_are_told_up_to_a_limit(tmp_path):
    told = refused(tmp_path, "".join(f"{number},x\n" for number in range(9)), ["12"])
    assert "lines 1, 2, 3, 4, 5 and 4 more: " in told
