import numpy as np
import polars as pl
import pytest

from support.made_tables import CONTRACT
from wardround.workloads.clinical_risk.contract import Contract
from wardround.workloads.clinical_risk.encode import encode, input_names

FRAME = {
    "age": [60.0, None],
    "sex": ["male", None],
    "urea": [None, 100.0],
    "ward": ["other", "surgery"],
    "beds": [0.0, 250.0],
}


def test_each_row_has_numbers_then_indicators_then_categories():
    contract = Contract.model_validate(CONTRACT)
    encoded = encode(pl.DataFrame(FRAME), contract)
    assert encoded.dtype == np.float32
    values = dict(zip(input_names(contract), encoded.T.tolist(), strict=True))
    assert {name: values[name] for name in ("age", "urea", "beds")} == {
        "age": [0.5, pytest.approx(np.nan, nan_ok=True)],
        "urea": [pytest.approx(np.nan, nan_ok=True), 1.0],
        "beds": [0.0, 0.25],
    }
    assert {name: column for name, column in values.items() if ":" in name} == {
        "age:missing": [0, 1],
        "sex:missing": [0, 1],
        "urea:missing": [1, 0],
        "ward:missing": [0, 0],
        "beds:missing": [0, 0],
    }
    assert {name: column for name, column in values.items() if "=" in name} == {
        "sex=female": [0, 0],
        "sex=male": [1, 0],
        "ward=surgery": [0, 1],
        "ward=medicine": [0, 0],
        "ward=intensive": [0, 0],
        "ward=other": [1, 0],
    }


def test_the_order_of_a_tables_columns_does_not_matter():
    contract = Contract.model_validate(CONTRACT)
    turned = pl.DataFrame(dict(reversed(FRAME.items())))
    np.testing.assert_array_equal(encode(turned, contract), encode(pl.DataFrame(FRAME), contract))


def test_a_column_without_any_value_and_a_table_without_rows_can_be_encoded():
    contract = Contract.model_validate(CONTRACT)
    empty = pl.DataFrame(FRAME).with_columns(ward=pl.lit(None, pl.String), age=pl.lit(None, pl.Float64))
    values = dict(zip(input_names(contract), encode(empty, contract).T, strict=True))
    assert values["ward:missing"].tolist() == values["age:missing"].tolist() == [1, 1]
    assert encode(pl.DataFrame(FRAME).clear(), contract).shape == (0, len(input_names(contract)))
