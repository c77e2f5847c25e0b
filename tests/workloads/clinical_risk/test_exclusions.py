from pathlib import Path
from typing import Any

import pytest

from support.small_tables import HEADER, ROWS, contract, csv_site
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.clinical_risk.table import read_table


def test_exclusions_are_left_out_and_counted_by_their_meaning(tmp_path: Path) -> None:
    asked = contract(exclusions=[{"column": "ended_in", "meaning": "died in hospital", "values": ["death"]}])
    rows = [f"{row},{end}" for row, end in zip(ROWS, ["H", "D", "H", "H", "D"], strict=True)]
    made = csv_site(
        tmp_path,
        *rows,
        header=HEADER + ",end",
        exclusions={"ended_in": {"column": "end", "codes": {"D": "death", "H": "home"}}},
    )
    table = read_table(asked, made)
    assert table.rows.tolist() == [1, 3, 4]
    assert "table.csv: 2 rows left out: died in hospital" in [str(remark) for remark in table.findings.notes]
    with pytest.raises(WardroundError, match=r"exclusions\.ended_in: missing"):
        read_table(asked, csv_site(tmp_path, *ROWS))


DIED = {"column": "ended_in", "meaning": "died in hospital", "values": ["death"]}


MOVED = {"column": "went_to", "meaning": "moved to another hospital", "values": ["moved"]}


def test_an_exclusion_that_no_row_has_is_a_doubt_that_names_its_codes(tmp_path: Path) -> None:
    rows = [f"{row},{end}" for row, end in zip(ROWS, ["1", "7", "1", "1", "7"], strict=True)]
    codes = {"07": "death", "20": "death", "1": "home"}
    asked = contract(exclusions=[DIED])
    made = csv_site(tmp_path, *rows, header=HEADER + ",end", exclusions={"ended_in": {"column": "end", "codes": codes}})
    table = read_table(asked, made)
    assert table.rows.tolist() == [1, 2, 3, 4, 5]
    assert [doubt.kind for doubt in table.findings.errors] == [Reason.VALUE_INVALID]
    assert "column end: no row has 07, 20, so none is left out for: died in hospital; it has 1, 7" in str(
        table.findings.errors[0]
    )
    assert read_table(asked, made, labelled=False).findings.errors == []  # a few rows to predict for need not have one


def test_a_row_that_two_exclusions_have_is_left_out_by_the_first_and_raises_no_doubt(tmp_path: Path) -> None:
    rows = [f"{row},{end}" for row, end in zip(ROWS, ["1", "7", "1", "1", "7"], strict=True)]
    mappings = {
        "ended_in": {"column": "end", "codes": {"7": "death"}},
        "went_to": {"column": "end", "codes": {"7": "moved"}},
    }
    made = csv_site(tmp_path, *rows, header=HEADER + ",end", exclusions=mappings)
    table = read_table(contract(exclusions=[DIED, MOVED]), made)
    assert table.rows.tolist() == [1, 3, 4]
    assert table.findings.errors == []
    assert [str(remark) for remark in table.findings.notes if remark.kind == Reason.ROW_EXCLUDED] == [
        "table.csv: 2 rows left out: died in hospital",
        "table.csv: 0 rows left out: moved to another hospital",
    ]


def test_a_hospital_can_declare_that_its_table_has_no_excluded_rows(tmp_path: Path) -> None:
    table = read_table(contract(exclusions=[DIED]), csv_site(tmp_path, *ROWS, exclusions={"ended_in": None}))
    assert table.rows.tolist() == [1, 2, 3, 4, 5]
    assert table.findings.errors == []
    assert "0 rows left out: died in hospital (exclusions.ended_in: null" in str(table.findings.notes[0])


@pytest.mark.parametrize(
    ("key", "value"), [("missing", ["9"]), ("unit", "years"), ("time", "age"), ("known_at_index", True)]
)
def test_a_key_that_does_nothing_for_an_exclusion_is_refused(tmp_path: Path, key: str, value: Any) -> None:
    mapping = {"column": "ward", "codes": {"MED": "death"}, key: value}
    with pytest.raises(WardroundError, match=rf"exclusions\.ended_in\.{key}: does nothing for an exclusion") as told:
        read_table(contract(exclusions=[DIED]), csv_site(tmp_path, *ROWS, exclusions={"ended_in": mapping}))
    assert told.value.code == Reason.CONFIGURATION_INVALID


@pytest.mark.parametrize(("codes", "told"), [({"D": "deth"}, "did you mean death"), ({"D": "end"}, "no code stands")])
def test_a_slip_in_an_exclusion_is_refused(tmp_path: Path, codes: dict[str, str], told: str) -> None:
    asked = contract(exclusions=[{"column": "ended_in", "meaning": "died in hospital", "values": ["death"]}])
    with pytest.raises(WardroundError, match=told):
        read_table(asked, csv_site(tmp_path, *ROWS, exclusions={"ended_in": {"column": "ward", "codes": codes}}))


@pytest.mark.parametrize("section", ["outcome", "exclusions"])
def test_one_code_written_twice_cannot_stand_for_two_values(tmp_path: Path, section: str) -> None:
    changes = {
        "outcome": {"column": "readmit", "codes": {"1": "yes", "1.0": "no"}},
        "exclusions": {"ended_in": {"column": "ward", "codes": {"1": "death", "1.0": "home"}}},
    }
    asked = contract(exclusions=[DIED] if section == "exclusions" else [])
    with pytest.raises(WardroundError, match=r"'1\.0' is the same as '1', which stands for another value"):
        read_table(asked, csv_site(tmp_path, *ROWS, **{section: changes[section]}))
