"""A column's values as they are written, turned into the contract's numbers and categories."""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import polars as pl

from wardround.workloads.clinical_risk.contract import OTHER, CategoryColumn, Conversion, NumberColumn

MISSING = "missing"  # what a site may map a code to
_WHOLE = re.compile(r"^([+-]?\d+)\.0+$")
_EXACT = 2.0**53  # up to here, a float tells every whole number
_ROUNDING = 1e-9  # of the range's width: what a conversion of units may lose at its ends


@dataclass(frozen=True)
class Values:
    """A column that was read.

    Args:
        values: Float64 in the contract's unit, or String; null where missing or faulty.
        invalid: what is neither a value nor a code for missing.
        implausible: numbers outside the contract's range.
        unseen: codes that went to the bucket `other` because nobody named them.
    """

    values: pl.Series
    invalid: pl.Series
    implausible: pl.Series
    unseen: pl.Series


def as_text(series: pl.Series, *, decimal: str = ".") -> pl.Series:
    """Values as text without spaces around them; a whole number is the same text however it is stored: 1.0 is 1.

    In text, only the decimal sign counts: with a decimal comma, 250.000 is 250 thousand or a slip, and no 250.
    """
    if series.dtype.is_float():
        column = pl.first()
        whole = column.is_finite() & (column == column.floor()) & (column.abs() < _EXACT)
        text = (
            pl.when(whole).then(column.cast(pl.Int64, strict=False).cast(pl.String)).otherwise(column.cast(pl.String))
        )
        return series.to_frame().select(pl.when(~column.is_nan()).then(text).alias(series.name)).to_series()
    text_series = series.cast(pl.String).str.strip_chars()
    return text_series.str.replace(rf"^([+-]?\d+)[{decimal}]0+$", "$1")


def code_text(code: str | float) -> str:
    """A code of a configuration file in the form of `as_text`."""
    text = str(code).strip()
    whole = _WHOLE.match(text)
    return whole[1] if whole else text


def read_numbers(
    raw: pl.Series,
    column: NumberColumn,
    *,
    unit: str | None,
    codes: Mapping[str, str],
    missing: Iterable[str | float],
    decimal: str = ".",
) -> Values:
    """Numbers in the contract's unit.

    Args:
        raw: as the source gives it.
        column: of the contract.
        unit: of the site's values; None: the contract's.
        codes: texts that stand for a number in the site's unit, or for missing. They win over `missing`.
        missing: codes for missing. Where one is a number it is compared as one, before conversion: 0 is 0.0.
        decimal: the sign in numbers that are text.
    """
    text = as_text(raw, decimal=decimal)
    numbers = raw.cast(pl.Float64) if raw.dtype.is_numeric() else _parsed(text, decimal)
    names = [code_text(code) for code in missing]
    absent = text.is_null() | text.is_in(names)
    as_numbers = [number for name in names if (number := _number(name)) is not None]
    if as_numbers:
        absent |= numbers.is_in(as_numbers).fill_null(False)
    if codes:
        table = {code_text(code): target for code, target in codes.items()}
        coded = text.is_in(list(table))
        targets = text.replace_strict(
            {code: _number(target) for code, target in table.items()}, default=None, return_dtype=pl.Float64
        )
        numbers = _where(coded, targets, numbers)
        absent = _where(coded, text.is_in([code for code, target in table.items() if target == MISSING]), absent)
    numbers = _where(numbers.is_finite(), numbers, None)
    invalid = numbers.is_null() & ~absent
    converted = convert(numbers, conversion(column, unit))
    low, high = column.range
    slack = _ROUNDING * (high - low)
    plausible = converted.is_between(low - slack, high + slack).fill_null(False)
    implausible = ~plausible & ~absent & ~invalid
    values = _where(plausible & ~absent, converted.clip(low, high), None)
    return Values(values, invalid.fill_null(False), implausible, _none_of(raw))


def read_categories(
    raw: pl.Series,
    column: CategoryColumn,
    *,
    codes: Mapping[str, str],
    missing: Iterable[str | float],
    decimal: str = ".",
) -> Values:
    """Categories of the contract's vocabulary; what nobody named is `other` where the contract allows it.

    Args:
        raw: as the source gives it.
        column: of the contract.
        codes: the site's codes to the contract's values, to `other` or to `missing`. They win over `missing`; a value
            of the contract stands for itself.
        missing: codes for missing.
        decimal: the sign in numbers that are text.
    """
    text = as_text(raw, decimal=decimal)
    known = {value: value for value in column.values}
    absent = {code_text(code): MISSING for code in missing}
    table = {**known, **absent, **{code_text(code): target for code, target in codes.items()}}
    mapped = text.replace_strict(table, default=None, return_dtype=pl.String)
    unnamed = text.is_not_null() & mapped.is_null()
    values = _where(mapped == MISSING, None, mapped)
    if column.other:
        return Values(_where(unnamed, OTHER, values), _none_of(raw), _none_of(raw), unnamed)
    return Values(values, unnamed, _none_of(raw), _none_of(raw))


def conversion(column: NumberColumn, unit: str | None) -> Conversion:
    """From a site's unit to the contract's."""
    return Conversion() if unit in (None, column.unit) else column.units[str(unit)]


def convert(numbers: pl.Series, rule: Conversion) -> pl.Series:
    """`value * factor + offset`; exactly the value where nothing is to convert."""
    if rule.factor == 1 and rule.offset == 0:
        return numbers
    return numbers * rule.factor + rule.offset


def _parsed(text: pl.Series, decimal: str) -> pl.Series:
    """A point in a number with decimal comma would be a thousands sign or a slip: it is no number here."""
    if decimal == ".":
        return text.cast(pl.Float64, strict=False)
    plain = _where(text.str.contains(".", literal=True), None, text)
    return plain.str.replace(decimal, ".", literal=True).cast(pl.Float64, strict=False)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _none_of(series: pl.Series) -> pl.Series:
    return pl.repeat(False, len(series), eager=True, dtype=pl.Boolean)


def _where(mask: pl.Series, yes: pl.Series | str | None, no: pl.Series | None) -> pl.Series:
    """`yes` where the mask is true, else `no`, also where the mask is null."""
    return pl.select(pl.when(mask.fill_null(False)).then(pl.lit(yes)).otherwise(pl.lit(no))).to_series()
