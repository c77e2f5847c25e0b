"""What the disclosure gate makes of a site's counts: rounded up, a range, or no part in the training."""

import pytest

from support.gated import a_manifest, a_record, a_report, passed
from wardround.records.orders import Reply
from wardround.records.reasons import Reason


def test_counts_are_rounded_up_so_that_bounds_still_hold() -> None:
    reply = Reply(manifest=a_manifest(), report=a_report(21), records=[a_record(n=9, n_positive=7)])
    told = passed(reply, count_step=10)
    assert told.manifest is not None
    assert told.manifest.counts == {"train_patients": 30, "train_cases": 30, "test_patients": 10, "test_cases": 10}
    assert told.report is not None
    assert told.report.patients == told.manifest.counts["train_patients"]  # the server compares the two
    assert (told.records[0].n, told.records[0].n_positive) == (10, 10)


def test_a_report_is_rounded_and_has_no_words_of_its_own() -> None:
    told = passed(Reply(report=a_report(4))).report
    assert told is not None
    assert (told.loss, told.moved, told.seconds) == (0.333333, 0.666667, {"train": 1.235})


@pytest.mark.parametrize("patients", [0, 2])
def test_a_site_with_too_few_to_train_on_takes_no_part(patients: int) -> None:
    refused = Reply(error=Reason.TOO_FEW_PATIENTS)
    assert passed(Reply(manifest=a_manifest(counts={"train_patients": patients}))) == refused
    assert passed(Reply(report=a_report(patients), records=[a_record()])) == refused
    outside = a_manifest(role="evaluate", counts={"train_patients": patients, "test_patients": 9})
    assert passed(Reply(manifest=outside)).manifest is not None


def test_how_many_opted_out_is_told_by_no_name() -> None:
    """Two such numbers, of two days, tell of a patient."""
    counts = {"train_patients": 21, "opted_out": 9, "opted_out_patients": 9}
    told = passed(Reply(manifest=a_manifest(counts=counts, problems={"opted_out": 9, "data_missing": 9}))).manifest
    assert told is not None
    assert (told.counts, told.problems) == ({"train_patients": 21}, {"data_missing": 9})
    assert told.banded == told.banded_problems == {}


def test_small_counts_are_a_range_and_so_is_the_total_that_would_give_them_away() -> None:
    counts = {"train_patients": 21, "unlabelled_cases": 4, "left_out": 9}
    told = passed(
        Reply(manifest=a_manifest(counts=counts, problems={"geometry_invalid": 7, "data_missing": 2}))
    ).manifest
    assert told is not None
    assert told.counts == {"train_patients": 21}
    assert told.problems == {"geometry_invalid": 7}
    assert told.banded_problems == {"data_missing": (1, 4)}
    assert told.banded == {"unlabelled_cases": (1, 4), "left_out": (8, 11)}
    doubted = {"label_empty": 6, "volume_duplicated": 2, "p7_looks_odd": 1}
    doubts = passed(Reply(manifest=a_manifest(counts=counts, doubts=doubted))).manifest
    assert doubts is not None
    assert doubts.doubts == {"label_empty": 6}
    assert doubts.banded_doubts == {"volume_duplicated": (1, 4)}
    exact = passed(Reply(manifest=a_manifest(counts=counts, problems={"geometry_invalid": 9}))).manifest
    assert exact is not None
    assert exact.counts["left_out"] == 9


def test_a_count_of_0_is_told_and_no_range() -> None:
    told = passed(Reply(manifest=a_manifest(counts={"train_patients": 9, "test_patients": 0, "left_out": 0}))).manifest
    assert told is not None
    assert (told.counts, told.banded) == ({"train_patients": 9, "test_patients": 0, "left_out": 0}, {})


def test_of_a_split_with_too_few_patients_no_count_is_told() -> None:
    counts = {"train_patients": 9, "train_cases": 9, "test_patients": 2, "test_cases": 7, "test_positive": 1}
    told = passed(Reply(manifest=a_manifest(counts=counts))).manifest
    assert told is not None
    assert told.counts == {"train_patients": 9, "train_cases": 9}
    assert told.banded == {"test_patients": (1, 2), "test_cases": (1, None), "test_positive": (0, None)}
