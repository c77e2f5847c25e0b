from typing import Any

import pytest
from pydantic import ValidationError

from support.small_tables import CONTRACT, contract, contract_with
from wardround.workloads.clinical_risk.contract import Contract, contract_digest


def test_the_digest_is_of_the_content() -> None:
    turned = Contract.model_validate(dict(reversed(CONTRACT.items())))
    assert contract_digest(turned) == contract_digest(contract())
    columns = dict(reversed(CONTRACT["columns"].items()))
    others = [contract(columns=columns), contract_with("age", unit="months"), contract_with("age", meaning="at birth")]
    assert len({contract_digest(one) for one in [contract(), *others]}) == 4


@pytest.mark.parametrize(
    ("column", "changes", "told"),
    [
        ("age", {"range": [10, 10]}, "low below high"),
        ("age", {"range": [0, float("inf")]}, "finite"),
        ("age", {"window": {"to_days": 3}}, "less than or equal to 0"),
        ("age", {"window": {"from_days": 0, "to_days": -1}}, "from_days 0 is after"),
        ("age", {"units": {"months": {"factor": 0}}}, "factor 0"),
        ("age", {"units": {"years": {"factor": 2}}}, "is the column's own unit"),
        ("sex", {"values": ["male", "other"]}, "expected each once"),
        ("sex", {"values": ["male", "male"]}, "expected each once"),
        ("sex", {"type": "number"}, "unit"),
        ("sex", {"unit": "years"}, "Extra inputs"),
    ],
)
def test_a_column_that_makes_no_sense_is_refused(column: str, changes: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        contract_with(column, **changes)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"columns": {}}, "columns"),
        ({"outcome": {"name": "age", "meaning": "x", "horizon_days": 1}}, "is also an input"),
        ({"outcome": {**CONTRACT["outcome"], "positive": "no"}}, "positive and negative are both no"),
        ({"outcome": {**CONTRACT["outcome"], "positive": "missing"}}, "missing"),
        ({"cohorts": [{"name": "band", "column": "age"}]}, "every number needs them"),
        ({"cohorts": [{"name": "band", "column": "sex", "edges": [1]}]}, "edges are for numbers"),
        ({"cohorts": [{"name": "band", "column": "bmi"}]}, "not among columns"),
        ({"cohorts": [{"name": "a", "column": "sex"}, {"name": "a", "column": "ward"}]}, "is there twice"),
    ],
)
def test_a_contract_that_makes_no_sense_is_refused(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        contract(**changes)
