"""Faults of settings are told by file and key, an unknown key with the nearest that there is."""

import pytest
from pydantic import BaseModel, ConfigDict

from support.small_tables import CONTRACT, SITE
from wardround.records.faults import Where
from wardround.records.reasons import Reason, WardroundError
from wardround.records.schema_faults import validated
from wardround.workloads.clinical_risk.settings import ClinicalRiskSiteSettings
from wardround.workloads.clinical_risk.workload import make

CSV = {"kind": "csv", "file": "/t.csv"}


class _Room(BaseModel):
    model_config = ConfigDict(extra="forbid")

    beds: int


class _Ward(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    room: _Room


def test_what_is_right_becomes_the_model() -> None:
    assert validated(_Ward, {"name": "a", "room": {"beds": 2}}, "ward.yaml").room.beds == 2


def test_each_fault_has_its_line() -> None:
    with pytest.raises(WardroundError) as raised:
        validated(_Ward, {"room": {"bets": 2, "beds": "many"}, "colour": 1}, "ward.yaml")
    assert raised.value.code is Reason.CONFIGURATION_INVALID
    missing, wrong, near, unknown = str(raised.value).splitlines()
    assert missing == "ward.yaml: name: missing, and there is no default; add it"
    assert wrong.startswith("ward.yaml: room.beds: ")
    assert wrong.endswith("(found 'many')")
    assert near == "ward.yaml: room.bets: unknown key; did you mean room.beds?"
    assert unknown == "ward.yaml: colour: unknown key"


@pytest.mark.parametrize(
    ("changes", "key", "told"),
    [
        ({"pateint": "p"}, "pateint", "did you mean patient?"),
        ({"source": {**CSV, "separater": ";"}}, "source.separater", "did you mean source.separator?"),
        ({"source": {"kind": "sql", "query": "q", "url_file": "/u", "qury": 1}}, "source.qury", "source.query?"),
        (
            {"columns": {**SITE["columns"], "age": {"column": "age", "unti": "a"}}},
            "columns.age.unti",
            "columns.age.unit?",
        ),
        ({"split": {"test_fractoin": 1}}, "split.test_fractoin", "did you mean split.test_fraction?"),
        ({"outcome": {"column": "x", "cods": {}}}, "outcome.cods", "did you mean outcome.codes?"),
        ({"nothing_like_it": 1}, "nothing_like_it", ""),
    ],
)
def test_an_unknown_key_is_told_with_the_one_that_was_meant(changes: dict, key: str, told: str) -> None:
    with pytest.raises(WardroundError) as raised:
        validated(ClinicalRiskSiteSettings, {"source": CSV, **SITE, **changes}, "site.yaml: data.clinical_risk")
    (only,) = raised.value.faults
    assert only.where == Where(file="site.yaml: data.clinical_risk", key=key)
    assert (only.found, told in only.advice) == ("unknown key", True)


def test_a_contracts_faults_are_told_under_its_own_file() -> None:
    broken = {**CONTRACT, "outcome": {**CONTRACT["outcome"], "horizon": 30}}
    with pytest.raises(WardroundError, match=r"^contract\.yaml: outcome\.horizon: unknown key; did you mean outcome"):
        make({"contract": broken})


def test_a_key_without_a_value_is_told_as_empty_with_what_it_takes() -> None:
    with pytest.raises(WardroundError) as caught:
        validated(_Ward, {"name": None, "room": {"beds": 2}}, "ward.yaml")
    (told,) = caught.value.faults
    assert (told.where.key, told.found, told.expected) == ("name", "empty", "a valid string")
    assert told.advice == "fill it in"
