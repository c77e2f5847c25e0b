"""What a column of unusable numbers was probably meant as: another unit, another decimal sign."""

import polars as pl

from wardround.workloads.clinical_risk.contract import CategoryColumn, NumberColumn
from wardround.workloads.clinical_risk.settings import ColumnMapping
from wardround.workloads.clinical_risk.values import Values, as_text, conversion, convert


def better_unit(
    column: NumberColumn | CategoryColumn, mapping: ColumnMapping, raw: pl.Series, read: Values, decimal: str
) -> str:
    """Another accepted unit in which nearly all of the implausible numbers would be plausible."""
    if not isinstance(column, NumberColumn) or not read.implausible.any():
        return ""
    text = as_text(raw.filter(read.implausible), decimal=decimal).str.replace(",", ".", literal=True)
    numbers = text.cast(pl.Float64, strict=False).drop_nulls()
    for unit in (column.unit, *column.units):
        fits = convert(numbers, conversion(column, unit)).is_between(*column.range)
        if unit != (mapping.unit or column.unit) and len(fits) and fits.mean() > 0.9:  # type: ignore[operator]
            return f"; they would be plausible in {unit}"
    return ""


def other_decimal(column: NumberColumn | CategoryColumn, raw: pl.Series, read: Values, decimal: str) -> str:
    """The other decimal sign, where nearly all values that are no numbers would be numbers with it."""
    if not isinstance(column, NumberColumn) or not read.invalid.any():
        return ""
    sign, name = (",", "comma") if decimal == "." else (".", "point")
    written = as_text(raw.filter(read.invalid), decimal=decimal)
    if written.str.contains(rf"^\s*[-+]?\d+[{sign}]\d+\s*$").mean() > 0.9:  # type: ignore[operator]
        return f'; they have a decimal {name}, which a text file declares with source.decimal: "{sign}"'
    return ""
