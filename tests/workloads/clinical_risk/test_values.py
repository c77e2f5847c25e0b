from datetime import date
from decimal import Decimal

import polars as pl
import pytest

from support.small_tables import contract
from wardround.workloads.clinical_risk.contract import CategoryColumn, Conversion, NumberColumn
from wardround.workloads.clinical_risk.values import as_text, convert, read_categories, read_numbers

AGE, SEX, WARD = (contract().columns[name] for name in ("age", "sex", "ward"))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0, 2.5, float("nan"), None, 1e17], ["1", "2.5", None, None, "1e17"]),
        ([123456789.0], ["123456789"]),
        ([7, None], ["7", None]),
        ([True, False], ["true", "false"]),
        ([" x ", "1.0", "1.00", "-2.0", "1.50", "v1.0", "007"], ["x", "1", "1", "-2", "1.50", "v1.0", "007"]),
        ([Decimal("1.00"), Decimal("1.25")], ["1", "1.25"]),
        ([date(2024, 5, 31)], ["2024-05-31"]),
    ],
)
def test_text_of_a_value_does_not_depend_on_how_it_is_stored(values: list[object], expected: list[str]) -> None:
    text = as_text(pl.Series("x", values)).to_list()
    assert [one and one.replace("e+", "e") for one in text] == expected


@pytest.mark.parametrize("text", ["inf", "-inf", "nan", "1 000", "1,5", "1_0", "0x10", "six"])
def test_what_is_no_number_is_invalid(text: str) -> None:
    assert isinstance(AGE, NumberColumn)
    read = read_numbers(pl.Series("x", [text, "60"]), AGE, unit=None, codes={}, missing=())
    assert read.invalid.to_list() == [True, False]
    assert read.values.to_list() == [None, 60.0]


def test_a_code_for_missing_is_compared_as_a_number_before_conversion() -> None:
    column = NumberColumn.model_validate(
        {"type": "number", "meaning": "m", "unit": "C", "units": {"F": {"factor": 5 / 9, "offset": -160 / 9}},
         "range": [30, 45]}
    )  # fmt: skip
    raw = pl.Series("x", ["98.6", "0.00", "-0", "0x", "200"])
    read = read_numbers(raw, column, unit="F", codes={}, missing=("0",))
    assert read.values.to_list() == [pytest.approx(37), None, None, None, None]
    assert read.invalid.to_list() == [False, False, False, True, False]
    assert read.implausible.to_list() == [False, False, False, False, True]
    assert convert(pl.Series([32.0]), Conversion(factor=5 / 9, offset=-160 / 9))[0] == pytest.approx(0)


def test_a_code_that_the_site_maps_wins_over_one_for_missing() -> None:
    assert isinstance(AGE, NumberColumn)
    assert isinstance(WARD, CategoryColumn)
    raw = pl.Series("x", ["NA", "?"])
    numbers = read_numbers(raw, AGE, unit=None, codes={"NA": "20"}, missing=("NA", "?"))
    assert numbers.values.to_list() == [20.0, None]
    wards = read_categories(raw, WARD, codes={"NA": "surgery"}, missing=("NA", "?"))
    assert wards.values.to_list() == ["surgery", None]
    assert not wards.unseen.any()


def test_categories_of_a_closed_vocabulary() -> None:
    assert isinstance(SEX, CategoryColumn)
    raw = pl.Series("x", ["male", "F", "X", None])
    read = read_categories(raw, SEX, codes={"F": "female"}, missing=())
    assert read.values.to_list() == ["male", "female", None, None]
    assert read.invalid.to_list() == [False, False, True, False]


def test_a_point_in_numbers_with_decimal_comma_is_not_dropped() -> None:
    assert as_text(pl.Series(["12.000", "12", "12,00"]), decimal=",").to_list() == ["12.000", "12", "12"]
    assert as_text(pl.Series(["12.000", "12"])).to_list() == ["12", "12"]
    assert isinstance(AGE, NumberColumn)
    read = read_numbers(pl.Series("n", ["50.000", "50,000"]), AGE, unit=None, codes={}, missing=(), decimal=",")
    assert read.values.to_list() == [None, 50.0]
    assert read.invalid.to_list() == [True, False]
