"""What each hospital gained: paired differences, read without wishful thinking."""

from typing import Literal

from wardround.records.metric_record import MetricRecord
from wardround.records.run_lines import DifferenceLine, RunLine
from wardround.reporting.model import ArmScore, Comparison
from wardround.reporting.table import higher_is_better
from wardround.reporting.words import Words

Verdict = Literal["better", "worse", "not_shown", "too_few", "unknown"]


def comparisons(lines: list[RunLine], rows: list[ArmScore], key: str, mode: str, words: Words) -> list[Comparison]:
    """All paired test differences with a verdict, in the record's order."""
    values = {(row.arm, row.site): row for row in rows}
    return [
        Comparison(
            arm=line.arm,
            reference=line.reference,
            site=line.site,
            role=_role(rows, line.site),
            metric=record.name,
            difference=record,
            arm_value=_value(values.get((line.arm, line.site)), record.name),
            reference_value=_value(values.get((line.reference, line.site)), record.name),
            verdict=verdict(record, higher_is_better(record.name, key, mode, words)),
        )
        for line in lines
        if isinstance(line, DifferenceLine) and line.split == "test"
        for record in line.records
    ]


def verdict(difference: MetricRecord, higher: bool) -> Verdict:
    """`better` or `worse` only where the 95 % interval lies wholly on one side of 0."""
    if difference.value is None:
        return "unknown"
    if difference.interval is None:
        return "too_few"
    low, high = difference.interval
    if low <= 0 <= high:
        return "not_shown"
    return "better" if (low > 0) == higher else "worse"


def _role(rows: list[ArmScore], site: str) -> str:
    return next((row.role for row in rows if row.site == site), "train")


def _value(row: ArmScore | None, name: str) -> float | None:
    record = row.records.get(name) if row else None
    return record.value if record else None
