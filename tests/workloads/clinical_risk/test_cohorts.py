import polars as pl

from support.made_tables import CONTRACT
from wardround.workloads.clinical_risk.cohorts import cohorts_of
from wardround.workloads.clinical_risk.contract import Contract


def test_rows_are_divided_by_value_and_by_band():
    frame = pl.DataFrame({"sex": ["male", None, "female", "male"], "age": [49.9, 50.0, 65.0, None]})
    assert cohorts_of(frame, Contract.model_validate(CONTRACT)) == {
        "sex": ["male", None, "female", "male"],
        "age_band": ["below_50", "50_to_65", "65_up", None],
    }


def test_names_of_bands_have_neither_sign_nor_point():
    cohorts = [{"name": "band", "column": "age", "edges": [-1.5, 0, 2e10]}]
    contract = Contract.model_validate({**CONTRACT, "cohorts": cohorts})
    bands = cohorts_of(pl.DataFrame({"age": [-2.0, -1.0, 1.0, 3e10]}), contract)["band"]
    assert bands == ["below_minus_1_5", "minus_1_5_to_0", "0_to_2e10", "2e10_up"]
