"""Each fault before round 1 names the site and the difference in one line."""

from typing import Any

import pytest

from support.fake_workload import FakeWorkload, make_study
from support.made_tables import WORKLOAD
from wardround.flare.prepare_check import check_manifests, check_quorum
from wardround.records.reasons import Reason, WardroundError
from wardround.records.scores import Tally
from wardround.records.update import SiteManifest
from wardround.workloads.registry import workload_of
from wardround.workloads.workload import Workload

STUDY = make_study()
SHARED = {"first.weight": ["float32", 4, 1, 3, 3], "last.bias": ["float32", 1]}


def _manifest(**changes: Any) -> SiteManifest:
    settings: dict[str, Any] = {
        "site": "hospital-b",
        "role": "train",
        "counts": {"train_patients": 6},
        "metric_names": ("accuracy",),
        "shared": SHARED,
        "kept_local": (),
        "contract_digest": "fake",
        "study_digest": STUDY.digest(),
    }
    return SiteManifest(**{**settings, **changes})


def _check(manifest: SiteManifest) -> None:
    manifests = {"hospital-a": _manifest(site="hospital-a"), "hospital-b": manifest}
    check_manifests(manifests, STUDY, workload=FakeWorkload(), shared=SHARED)


@pytest.mark.parametrize(
    ("changes", "code", "words"),
    [
        ({"study_digest": "x" * 64}, Reason.CONTRACT_MISMATCH, "its study has the hash xxxxxxxxxxxx"),
        ({"contract_digest": "other"}, Reason.CONTRACT_MISMATCH, "its data contract has the hash other"),
        ({"metric_names": ("brier", "auroc")}, Reason.METRIC_UNKNOWN, "which reports: brier, auroc"),
        (
            {"shared": {"first.weight": SHARED["first.weight"]}},
            Reason.NAMES_MISMATCH,
            "lacks last.bias and has nothing",
        ),
        ({"shared": {**SHARED, "x": ["float32", 1]}}, Reason.NAMES_MISMATCH, "lacks nothing and has x beside"),
        ({"shared": {**SHARED, "last.bias": ["float32", 2]}}, Reason.SHAPE_MISMATCH, "last.bias is ['float32', 2]"),
    ],
)
def test_a_difference_is_named_with_its_site(changes: dict[str, Any], code: Reason, words: str) -> None:
    with pytest.raises(WardroundError) as caught:
        _check(_manifest(**changes))
    assert caught.value.code == code
    assert "hospital-b" in str(caught.value)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_equal_sites_pass_and_too_few_do_not() -> None:
    _check(_manifest())
    with pytest.raises(WardroundError, match=r"2 training sites, federation.quorum is 3 \(hospital-c: late\)"):
        check_quorum({"hospital-a": _manifest(), "hospital-b": _manifest()}, STUDY, {"hospital-c": "late"})


@pytest.mark.parametrize(("reason", "told"), [("consent_revoked", True), ("consent_missing", True), ("late", False)])
def test_what_a_hospital_without_consent_can_do_is_said(reason: str, told: bool) -> None:
    with pytest.raises(WardroundError) as caught:
        check_quorum({"hospital-a": _manifest()}, STUDY, {"hospital-c": reason})
    assert ("with `wardround site approve`" in str(caught.value)) is told


GOOD = {"sum": 20.0, "sum_of_squares": 12.0}
BAD = [
    ([("column_age", GOOD, 10**12, 20)], "is over 1000000000000 rows of 20 patients, the site has 50 rows"),
    ([("column_age", GOOD, 19, 20)], "is over 19 rows of 20 patients"),
    ([("column_age", {**GOOD, "sum": 5000.0}, 40, 20)], "has sum 5000"),
    ([("column_age", {**GOOD, "sum": 1e308, "sum_of_squares": 1e308}, 40, 20)], "has sum 1e+308"),
    ([("column_age", {**GOOD, "sum_of_squares": -1e308}, 40, 20)], "sum of squares -1e+308"),
    ([("column_age", {**GOOD, "sum_of_squares": 21.0}, 40, 20)], "sum of squares 21"),
    ([("column_age", {**GOOD, "sum_of_squares": 9.0}, 40, 20)], "too much for its sum of squares 9"),
    ([("column_age", {"sum": 20.0}, 40, 20)], "column_age holds sum; expected sum, sum_of_squares"),
    ([("column_age", {**GOOD, "mean": 0.5}, 40, 20)], "column_age holds mean, sum"),
    ([("column_age", {}, 40, 20)], "column_age holds nothing"),
    ([("column_age", GOOD, 40, None)], "is over 0 patients"),
    ([("column_age", GOOD, 40, 0)], "is over 0 patients"),
    ([("column_age", GOOD, 40, 31)], "is over 31 patients, the site has 30"),
    ([("column_sex", GOOD, 40, 20)], "column_sex is the sum of no number column"),
    ([("column_age", GOOD, 40, 20), ("column_age", GOOD, 40, 20)], "column_age is there twice"),
]

Sums = list[tuple[str, dict[str, float], int, int | None]]


def _check_sums(sums: Sums, workload: Workload, **changes: Any) -> None:
    manifest = _manifest(
        **{"counts": {"train_patients": 30, "train_cases": 50}, "contract_digest": workload.contract_digest()}
        | changes,
        statistics=[Tally(name=name, counts=counts, n=rows, support=patients) for name, counts, rows, patients in sums],
    )
    check_manifests({"hospital-b": manifest}, STUDY, workload=workload, shared=SHARED)


@pytest.mark.parametrize(("sums", "words"), BAD)
def test_sums_that_no_training_rows_have_are_refused(sums: list[Any], words: str) -> None:
    with pytest.raises(WardroundError) as caught:
        _check_sums(sums, workload_of(WORKLOAD))
    assert caught.value.code is Reason.COUNT_INVALID
    assert str(caught.value).startswith("hospital-b: statistics: column_")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_sums_that_rows_can_have_pass_and_a_column_may_be_held_back() -> None:
    constant = {"sum": 15.0, "sum_of_squares": 4.5}
    _check_sums([("column_age", GOOD, 40, 20), ("column_beds", constant, 50, 30)], workload_of(WORKLOAD))
    _check_sums([], workload_of(WORKLOAD))


def test_sums_that_nobody_asked_for_are_refused() -> None:
    for workload in (workload_of({**WORKLOAD, "normalisation": "site"}), FakeWorkload()):
        with pytest.raises(WardroundError, match="hospital-b: statistics: column_age"):
            _check_sums([("column_age", GOOD, 40, 20)], workload)
    with pytest.raises(WardroundError, match="column_age is a sum that this study does not ask for"):
        Workload.check_statistics(FakeWorkload(), [Tally(name="column_age", counts=GOOD, n=40, support=20)], {})
    with pytest.raises(WardroundError, match="hospital-b: sends sums, among them column_age, but does not train"):
        _check_sums([("column_age", GOOD, 40, 20)], workload_of(WORKLOAD), role="evaluate")
