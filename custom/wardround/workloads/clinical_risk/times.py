"""Dates and times of day as hospitals write them, in ISO 8601."""

from dataclasses import dataclass

import polars as pl

from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.clinical_risk.values import as_text

_ISO = (
    r"^(?<day>\d{4}-\d{2}-\d{2})"
    r"(?:[T ](?<minute>\d{2}:\d{2})(?::(?<second>\d{2})(?<fraction>\.\d{1,9})?)?\s?(?<zone>Z|[+-]\d{2}:?\d{2})?)?$"
)
EXPECTED = "a date or time such as 2024-05-31 or 2024-05-31T14:30:00+02:00"


@dataclass(frozen=True)
class Times:
    """A column of times.

    Args:
        local: Datetime as the hospital's clock shows it; null where missing or invalid.
        instant: the same in UTC, if all values say their time zone.
        invalid: what is no time.
        dates_only: no value has a time of day.
    """

    local: pl.Series
    instant: pl.Series | None
    invalid: pl.Series
    dates_only: bool


def read_times(raw: pl.Series, missing: list[str]) -> Times:
    """Reads a column of dates or times, typed or as text.

    Args:
        raw: as the source gives it.
        missing: codes for missing.

    Raises:
        WardroundError: the column is of a type that holds no times.
    """
    if isinstance(raw.dtype, pl.Date | pl.Datetime):
        zone = getattr(raw.dtype, "time_zone", None)
        local = raw.dt.replace_time_zone(None) if zone else raw
        local = local.cast(pl.Datetime("us"))
        instant = raw.dt.convert_time_zone("UTC").dt.replace_time_zone(None).cast(pl.Datetime("us")) if zone else None
        return Times(local, instant, pl.repeat(False, len(raw), eager=True, dtype=pl.Boolean), _dates_only(local))
    if raw.dtype not in (pl.String, pl.Null, pl.Categorical) and not isinstance(raw.dtype, pl.Enum):
        raise WardroundError(Reason.DATA_UNREADABLE, f"column {raw.name}: holds {raw.dtype}; expected {EXPECTED}")
    text = as_text(raw)
    absent = text.is_null() | text.is_in(missing)
    parts = pl.DataFrame({"text": text}).select(pl.col("text").str.extract_groups(_ISO)).unnest("text")
    part = pl.col
    clock = pl.concat_str(
        part("day"), pl.lit(" "), part("minute").fill_null("00:00"), pl.lit(":"), part("second").fill_null("00"),
        part("fraction").fill_null(".0"),
    )  # fmt: skip
    sign = pl.when(part("zone").str.starts_with("-")).then(-1).otherwise(1)
    digits = part("zone").str.replace(":", "")
    minutes = digits.str.slice(1, 2).cast(pl.Int64, strict=False) * 60 + digits.str.slice(3, 2).cast(
        pl.Int64, strict=False
    )
    offset = pl.when(part("zone") == "Z").then(0).otherwise(sign * minutes)
    read = parts.select(
        clock.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit="us", strict=False).alias("local"),
        offset.alias("offset"),
    )
    local = read["local"]
    zoned = bool(local.is_not_null().any()) and not (local.is_not_null() & read["offset"].is_null()).any()
    instant = read.select(part("local") - pl.duration(minutes=part("offset"))).to_series() if zoned else None
    return Times(local, instant, local.is_null() & ~absent, _dates_only(local))


def _dates_only(local: pl.Series) -> bool:
    return bool((local == local.dt.truncate("1d")).all())
