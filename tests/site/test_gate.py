"""The disclosure gate, with closed forms: what passes, what is held back and how that is told."""

import logging

import pytest
from pydantic import ValidationError

from support.gated import ID, PARTS, a_manifest, a_record, passed
from support.looks import a_look
from wardround.metrics.intervals import mean_interval
from wardround.records.alerts import AlertRow
from wardround.records.disclosure import Disclosure
from wardround.records.metric_record import MetricRecord, Status, suppressed, undefined
from wardround.records.orders import Reply
from wardround.records.scores import Cohort, Tally
from wardround.records.shared_monitoring import SharedCriterion, SharedMonitoring
from wardround.records.update import SiteManifest, TrainingReport


def test_a_figure_leaves_with_enough_patients_to_six_digits_and_without_their_number() -> None:
    (told,) = passed(Reply(records=[a_record(interval=(0.1000000001, 0.2), n_positive=7, support=5)])).records
    assert told == MetricRecord(name="dice_wt", value=0.123457, n=9, n_positive=7, interval=(0.1, 0.2))


def test_an_interval_over_few_would_be_made_of_single_patients() -> None:
    """Of three patients one makes up a resample alone in 1 of 27: the lower bound is the lowest patient's value."""
    values, patients = [0.2, 0.6, 0.9], ["p0", "p1", "p2"]
    interval = mean_interval(values, patients)
    assert interval == pytest.approx((0.2, 0.9))
    (told,) = passed(Reply(records=[a_record(interval=interval, support=3)])).records
    assert (told.value, told.interval) == (0.123457, None)


@pytest.mark.parametrize("support", [None, 0, 1, 2])
@pytest.mark.parametrize("value", [0.5, None])
def test_a_figure_of_too_few_or_of_nobody_knows_how_many_is_suppressed_with_its_counts(
    support: int | None, value: float | None
) -> None:
    status = {} if value else {"status": Status.UNDEFINED, "reason": "one_class"}
    (told,) = passed(Reply(records=[a_record(value=value, support=support, **status)])).records
    assert told == suppressed("dice_wt", "fewer_than_minimum_patients")


def test_of_no_case_there_is_nothing_to_hold_back() -> None:
    none = undefined("brier", "no_cases", n_positive=0)
    assert passed(Reply(records=[none])).records == [none]


def test_what_the_site_does_not_allow_is_suppressed_by_name_or_by_family() -> None:
    reply = Reply(
        records=[a_record(), a_record("brier")],
        cohorts=[Cohort(name="age_band", value="young", records=[a_record("brier")])],
        alerts=[AlertRow(goal="ppv", target=0.5, threshold=0.5, records=[a_record("ppv")])],
    )
    told = passed(reply, allowed=("dice",))
    assert [(record.name, record.status, record.reason) for record in told.records] == [
        ("dice_wt", "ok", None),
        ("brier", "suppressed", "not_allowed"),
    ]
    assert {record.reason for part in (*told.cohorts, *told.alerts) for record in part.records} == {"not_allowed"}
    assert [
        record.status for cohort in passed(reply, allowed=("brier", "cohorts")).cohorts for record in cohort.records
    ] == ["ok"]


def test_a_look_at_a_released_model_passes_by_the_rules_of_today_or_not_at_all(
    caplog: pytest.LogCaptureFixture,
) -> None:
    look = a_look("risk", criteria=[{"metric": name, "met": False, "support": 40} for name in ("dice_wt", ID)])
    manifest = a_manifest(counts={"train_patients": 60}, monitoring=look)
    told = passed(Reply(manifest=manifest))
    assert told.manifest is not None
    assert told.manifest.monitoring == a_look("risk", criteria=[{"metric": "dice_wt", "met": False}])
    assert told.notes == ["unlisted_word"]
    with caplog.at_level(logging.INFO):
        held = passed(Reply(manifest=manifest), minimum_patients=41, minimum_cell=41).manifest
    assert held is not None
    assert held.monitoring is None
    assert "monitoring: held back by the site's disclosure rules" in caplog.text


def test_sums_are_named_where_they_are_held_back() -> None:
    sums = [Tally(name="column_age", counts={"sum": 5.0}, n=9, support=4)]
    cells = [Tally(name="score_bins", counts={"positive_0_9": 5.0}, n=9, support=5)]
    told = passed(Reply(manifest=a_manifest(statistics=sums, suppressed=["train_positive"]), tallies=cells))
    assert told.manifest is not None
    assert (told.manifest.statistics, told.manifest.suppressed) == ([], ["column_age", "train_positive"])
    assert told.tallies == [cells[0].model_copy(update={"support": None})]
    assert told.suppressed == []
    assert passed(Reply(tallies=cells), minimum_cell=6).suppressed == ["score_bins"]
    assert passed(Reply(suppressed=["score_bins"])).suppressed == ["score_bins"]


def _cohorts(*patients: int) -> list[Cohort]:
    return [
        Cohort(
            name="age_band", value=value, records=[a_record("brier", support=count), a_record("dice_wt", support=count)]
        )
        for value, count in zip(PARTS, patients, strict=False)
    ]


def _reasons(told: Reply) -> dict[str, set[str | None]]:
    return {cohort.value: {record.reason for record in cohort.records} for cohort in told.cohorts}


def test_where_one_part_is_small_the_next_smallest_goes_with_it() -> None:
    """The figures of all patients less those of the parts that are told would be the small part's."""
    reasons = _reasons(passed(Reply(records=[a_record("brier")], cohorts=_cohorts(30, 4, 20, 9))))
    assert reasons == {
        "young": {None},
        "middle": {"fewer_than_minimum_cell"},
        "old": {None},
        "oldest": {"complementary"},
    }
    two_small = _reasons(passed(Reply(cohorts=_cohorts(30, 4, 20, 3))))
    assert two_small["young"] == two_small["old"] == {None}  # 7 patients are hidden together


def test_what_the_workload_held_back_already_needs_no_second_time() -> None:
    cohorts = _cohorts(30, 20)
    hidden = Cohort(name="age_band", value="old", records=[suppressed("brier"), suppressed("dice_wt")])
    assert _reasons(passed(Reply(cohorts=[*cohorts, hidden]))) == {
        "young": {None},
        "middle": {None},
        "old": {"fewer_than_minimum_cell"},
    }


def test_a_line_of_an_alert_table_goes_as_a_whole() -> None:
    """PPV with its counts, beside the counts of all, gives NPV away."""
    row = AlertRow(
        goal="ppv", target=0.5, threshold=0.5, records=[a_record("ppv", support=9), a_record("npv", support=4)]
    )
    (told,) = passed(Reply(alerts=[row])).alerts
    assert told.records == [suppressed("ppv"), suppressed("npv")]
    assert told.threshold == 0.5


def test_rules_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(ValidationError, match="minimum_cell 5 is below minimum_patients 10"):
        Disclosure(minimum_patients=10)
    assert Disclosure(minimum_patients=10, minimum_cell=10).minimum_cell == 10


def test_rounding_can_be_left_out() -> None:
    assert passed(Reply(records=[a_record()]), significant_digits=None).records[0].value == 0.123456789


def test_the_gate_knows_every_field_of_an_answer() -> None:
    """A new one would pass it unseen, or be lost in it: decide in the gate what becomes of it, then name it here."""
    known = {
        Reply: "error manifest report records tallies cohorts alerts notes suppressed",
        SiteManifest: "site role counts banded metric_names shared kept_local contract_digest study_digest problems "
        "banded_problems doubts banded_doubts versions statistics inputs suppressed nature declared code "
        "monitoring",
        SharedMonitoring: "study version release_sha256 date patients cases criteria inputs",
        SharedCriterion: "metric met support",
        TrainingReport: "steps skipped_steps patients loss moved proximal_pull gradient_norm proximal_gradient_norm "
        "seconds",
        MetricRecord: "name value n n_positive status reason interval support",
        Tally: "name counts n support",
        Cohort: "name value records",
        AlertRow: "goal target threshold reason records",
    }
    for model, fields in known.items():
        assert set(model.model_fields) == set(fields.split()), model.__name__
