"""Dates and times of day as hospitals write them, in ISO 8601."""

from dataclasses import dataclass

import polars as pl

from wardround.records.faults import Fault, Where
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
        instant: the same in UTC; null where the value says no time zone.
        invalid: what is no time.
        date_only: the value has no time of day. Midnight is one, unless every value of the column is at midnight:
            then that is how the source writes dates.
    """

    local: pl.Series
    instant: pl.Series
    invalid: pl.Series
    date_only: pl.Series

    def filter(self, mask: pl.Series) -> "Times":
        """The rows where the mask is true."""
        return Times(*(part.filter(mask) for part in (self.local, self.instant, self.invalid, self.date_only)))


def read_times(raw: pl.Series, missing: list[str], *, where: Where) -> Times:
    """Reads a column of dates or times, typed or as text.

    Args:
        raw: as the source gives it.
        missing: codes for missing.
        where: the source and its column.

    Raises:
        WardroundError: the column is of a type that holds no times.
    """
    if isinstance(raw.dtype, pl.Date | pl.Datetime):
        zone = getattr(raw.dtype, "time_zone", None)
        local = (raw.dt.replace_time_zone(None) if zone else raw).cast(pl.Datetime("us"))
        in_utc = (
            raw.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
            if zone
            else pl.repeat(None, len(raw), eager=True)
        )
        return Times(local, in_utc.cast(pl.Datetime("us")), _all(False, local), _all(_only_midnights(local), local))
    if raw.dtype not in (pl.String, pl.Null, pl.Categorical) and not isinstance(raw.dtype, pl.Enum):
        raise WardroundError(
            Reason.DATA_UNREADABLE,
            Fault(
                found=f"holds {raw.dtype}",
                where=where,
                expected=EXPECTED,
                advice="name another column, or export it so",
            ),
        )
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
        part("minute").is_null().alias("date_only"),
    )
    local = read["local"]
    instant = read.select(part("local") - pl.duration(minutes=part("offset"))).to_series()
    date_only = read["date_only"] | _all(_only_midnights(local), local)
    return Times(local, instant, local.is_null() & ~absent, date_only)


def _only_midnights(local: pl.Series) -> bool:
    return bool((local == local.dt.truncate("1d")).all())


def _all(value: bool, like: pl.Series) -> pl.Series:
    return pl.repeat(value, len(like), eager=True, dtype=pl.Boolean)
