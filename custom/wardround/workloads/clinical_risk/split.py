"""Which rows train, validate and test. All rows of a patient go together."""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from wardround.records.faults import Fault, bounded, fault
from wardround.records.inspection import Finding, Severity
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.clinical_risk.contract import SplitRule
from wardround.workloads.clinical_risk.findings import cut
from wardround.workloads.clinical_risk.table import Table
from wardround.workloads.split import SPLITS, split_by_fractions

_Places = NDArray[np.intp]


def split_rows(table: Table, rule: SplitRule) -> tuple[dict[str, _Places], list[Finding]]:
    """Positions of the table's rows by split, and notes on rows that are in none.

    A split that the site's own column gives wins over the rule. Where that names no validation row, validation
    patients are drawn from its training ones by the rule's fraction, since something has to choose among rounds.
    By time, a patient belongs where the first index date falls, and what comes after the end of that split is left
    out: it would bring the test period into training. Patients who opted out are drawn with the others, so that nobody
    else moves to another split because of them.

    Raises:
        WardroundError: the given split is not one, splits a patient or is in no row; dates are needed and there are
            none; or fractions come to more than 1.
    """
    if table.given_split is not None:
        return _given(table, table.given_split, rule)
    if rule.by == "time":
        return _by_time(table, rule)
    assigned = split_by_fractions(
        [*table.patients, *table.opted_out],
        validation=rule.validation_fraction,
        test=rule.test_fraction,
        seed=rule.seed,
        must_train=False,
    )
    return _positions([assigned[patient] for patient in table.patients]), []


def _given(table: Table, given: Sequence[str], rule: SplitRule) -> tuple[dict[str, _Places], list[Finding]]:
    first: dict[str, tuple[str, int]] = {}
    faults: list[Fault] = []
    for patient, split, row in zip(table.patients, given, table.rows.tolist(), strict=True):
        other, where = first.setdefault(patient, (split, row))
        if split and split not in SPLITS:
            faults.append(
                fault(
                    f"split_column holds {cut(repr(split))}",
                    file=table.source,
                    row=row,
                    expected=f"one of {', '.join(SPLITS)}, or nothing",
                    advice="correct the column, or take split_column out of site.yaml",
                )
            )
        elif other != split:
            faults.append(
                fault(
                    f"split_column puts its patient into {split or 'no split'}, row {where} into {other or 'no split'}",
                    file=table.source,
                    row=row,
                    expected="all rows of a patient in one split",
                    advice="correct the column: whoever is trained on must not be tested on",
                )
            )
    if faults:
        raise WardroundError(Reason.SPLIT_INVALID, *bounded(faults))
    unsplit = sum(not split for split in given)
    if unsplit == len(given):
        raise WardroundError(
            Reason.DATA_MISSING,
            fault(
                f"says nothing in all {unsplit} rows, so none would train, validate or test",
                file=table.source,
                key="split_column",
                expected=", ".join(SPLITS),
                advice="fill the column in, or take split_column out of site.yaml for the study's own rule",
            ),
        )
    text = f"says nothing in {unsplit} of {len(given)} rows, which are left out"
    told = fault(text, file=table.source, key="split_column", count=unsplit)
    notes = [Finding.of(Severity.NOTE, Reason.ROW_EXCLUDED, told)] if unsplit else []
    everybody = [*zip(table.patients, given, strict=True), *table.opted_out.items()]
    if any(split == "validation" for _, split in everybody) or not rule.validation_fraction:
        return _positions(given), notes
    training = [patient for patient, split in everybody if split == "train"]
    drawn = split_by_fractions(training, validation=rule.validation_fraction, test=0, seed=rule.seed)
    pairs = zip(table.patients, given, strict=True)
    return _positions([drawn[patient] if split == "train" else split for patient, split in pairs]), notes


def _by_time(table: Table, rule: SplitRule) -> tuple[dict[str, _Places], list[Finding]]:
    if table.index_dates is None:
        raise WardroundError(
            Reason.CONFIGURATION_INVALID, "split by time needs dates: name the column of the index date as index_date"
        )
    assert rule.validation_from is not None
    assert rule.test_from is not None
    rows = pl.DataFrame({"patient": table.patients, "date": table.index_dates.cast(pl.Date)})
    date, first = pl.col("date"), pl.col("date").min().over("patient")
    own = [_period(column, rule) for column in (date, first)]
    frame = rows.select(own=own[0], first=own[1])
    used = (frame["own"] == frame["first"]).fill_null(False)
    splits = frame["first"].set(~used, "").to_list()
    undated = rows["date"].null_count()
    later = len(splits) - int(used.sum()) - undated
    why = {"their patients were seen first in an earlier split": later, "they have no index date": undated}
    notes = [
        Finding.of(
            Severity.NOTE,
            Reason.ROW_EXCLUDED,
            fault(
                f"split by time: {count} of {len(splits)} rows are left out, since {reason}",
                file=table.source,
                count=count,
            ),
        )
        for reason, count in why.items()
        if count
    ]
    return _positions(splits), notes


def _period(date: pl.Expr, rule: SplitRule) -> pl.Expr:
    return (
        pl.when(date < rule.validation_from)
        .then(pl.lit("train"))
        .when(date < rule.test_from)
        .then(pl.lit("validation"))
        .when(date.is_not_null())
        .then(pl.lit("test"))
    )


def _positions(splits: Sequence[str]) -> dict[str, _Places]:
    array = np.asarray(splits)
    return {split: np.flatnonzero(array == split) for split in SPLITS}
