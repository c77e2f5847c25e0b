"""The disclosure gate, with closed forms: what passes, what is held back and how that is told."""

import json
import logging

import pytest
from pydantic import ValidationError

from support.looks import a_look
from wardround.metrics.intervals import mean_interval
from wardround.records.alerts import AlertRow
from wardround.records.disclosure import Disclosure
from wardround.records.metric_record import MetricRecord, Status, suppressed, undefined
from wardround.records.orders import Reply
from wardround.records.reasons import Reason
from wardround.records.scores import Cohort, Tally
from wardround.records.shared_monitoring import SharedCriterion, SharedMonitoring
from wardround.records.update import SiteManifest, TrainingReport
from wardround.site.gate import guard
from wardround.workloads.words import Words

PARTS = ("young", "middle", "old", "oldest")
WORDS = Words(
    figures=frozenset({"dice_wt", "brier", "ppv", "npv"}),
    sums={"column_age": "sum", "score_bins": r"positive_\d+_\d+"},
    cohorts={"age_band": frozenset(PARTS)},
    counts=frozenset({"unlabelled_cases"}),
)


def _record(name: str = "dice_wt", value: float | None = 0.123456789, **more: object) -> MetricRecord:
    return MetricRecord.model_validate({"name": name, "value": value, "n": 9, "support": 9, **more})


def _manifest(**changes: object) -> SiteManifest:
    given = {
        "site": "hospital-a",
        "role": "train",
        "counts": {"train_patients": 21, "train_cases": 30, "test_patients": 8, "test_cases": 8},
        "metric_names": ("dice_wt",),
        "shared": {"first.weight": ["float32", 2]},
        "kept_local": (),
        "contract_digest": "ab",
        "study_digest": "cd",
        **changes,
    }
    return SiteManifest.model_validate(given)


def _report(patients: int) -> TrainingReport:
    seconds = {"train": 1.23456, "patient_0042": 1.0}
    return TrainingReport(steps=4, skipped_steps=0, patients=patients, loss=1 / 3, moved=2 / 3, seconds=seconds)


def _passed(reply: Reply, **rules: object) -> Reply:
    return guard(reply, Disclosure.model_validate(rules), WORDS).reply


def test_a_figure_leaves_with_enough_patients_to_six_digits_and_without_their_number() -> None:
    (told,) = _passed(Reply(records=[_record(interval=(0.1000000001, 0.2), n_positive=7, support=5)])).records
    assert told == MetricRecord(name="dice_wt", value=0.123457, n=9, n_positive=7, interval=(0.1, 0.2))


def test_an_interval_over_few_would_be_made_of_single_patients() -> None:
    """Of three patients one makes up a resample alone in 1 of 27: the lower bound is the lowest patient's value."""
    values, patients = [0.2, 0.6, 0.9], ["p0", "p1", "p2"]
    interval = mean_interval(values, patients)
    assert interval == pytest.approx((0.2, 0.9))
    (told,) = _passed(Reply(records=[_record(interval=interval, support=3)])).records
    assert (told.value, told.interval) == (0.123457, None)


@pytest.mark.parametrize("support", [None, 0, 1, 2])
@pytest.mark.parametrize("value", [0.5, None])
def test_a_figure_of_too_few_or_of_nobody_knows_how_many_is_suppressed_with_its_counts(
    support: int | None, value: float | None
) -> None:
    status = {} if value else {"status": Status.UNDEFINED, "reason": "one_class"}
    (told,) = _passed(Reply(records=[_record(value=value, support=support, **status)])).records
    assert told == suppressed("dice_wt", "fewer_than_minimum_patients")


def test_of_no_case_there_is_nothing_to_hold_back() -> None:
    none = undefined("brier", "no_cases", n_positive=0)
    assert _passed(Reply(records=[none])).records == [none]


def test_what_the_site_does_not_allow_is_suppressed_by_name_or_by_family() -> None:
    reply = Reply(
        records=[_record(), _record("brier")],
        cohorts=[Cohort(name="age_band", value="young", records=[_record("brier")])],
        alerts=[AlertRow(goal="ppv", target=0.5, threshold=0.5, records=[_record("ppv")])],
    )
    told = _passed(reply, allowed=("dice",))
    assert [(record.name, record.status, record.reason) for record in told.records] == [
        ("dice_wt", "ok", None),
        ("brier", "suppressed", "not_allowed"),
    ]
    assert {record.reason for part in (*told.cohorts, *told.alerts) for record in part.records} == {"not_allowed"}
    assert [
        record.status for cohort in _passed(reply, allowed=("brier", "cohorts")).cohorts for record in cohort.records
    ] == ["ok"]


def test_counts_are_rounded_up_so_that_bounds_still_hold() -> None:
    reply = Reply(manifest=_manifest(), report=_report(21), records=[_record(n=9, n_positive=7)])
    told = _passed(reply, count_step=10)
    assert told.manifest is not None
    assert told.manifest.counts == {"train_patients": 30, "train_cases": 30, "test_patients": 10, "test_cases": 10}
    assert told.report is not None
    assert told.report.patients == told.manifest.counts["train_patients"]  # the server compares the two
    assert (told.records[0].n, told.records[0].n_positive) == (10, 10)


def test_a_report_is_rounded_and_has_no_words_of_its_own() -> None:
    told = _passed(Reply(report=_report(4))).report
    assert told is not None
    assert (told.loss, told.moved, told.seconds) == (0.333333, 0.666667, {"train": 1.235})


@pytest.mark.parametrize("patients", [0, 2])
def test_a_site_with_too_few_to_train_on_takes_no_part(patients: int) -> None:
    refused = Reply(error=Reason.TOO_FEW_PATIENTS)
    assert _passed(Reply(manifest=_manifest(counts={"train_patients": patients}))) == refused
    assert _passed(Reply(report=_report(patients), records=[_record()])) == refused
    outside = _manifest(role="evaluate", counts={"train_patients": patients, "test_patients": 9})
    assert _passed(Reply(manifest=outside)).manifest is not None


def test_how_many_opted_out_is_told_by_no_name() -> None:
    """Two such numbers, of two days, tell of a patient."""
    counts = {"train_patients": 21, "opted_out": 9, "opted_out_patients": 9}
    told = _passed(Reply(manifest=_manifest(counts=counts, problems={"opted_out": 9, "data_missing": 9}))).manifest
    assert told is not None
    assert (told.counts, told.problems) == ({"train_patients": 21}, {"data_missing": 9})
    assert told.banded == told.banded_problems == {}


def test_small_counts_are_a_range_and_so_is_the_total_that_would_give_them_away() -> None:
    counts = {"train_patients": 21, "unlabelled_cases": 4, "left_out": 9}
    told = _passed(
        Reply(manifest=_manifest(counts=counts, problems={"geometry_invalid": 7, "data_missing": 2}))
    ).manifest
    assert told is not None
    assert told.counts == {"train_patients": 21}
    assert told.problems == {"geometry_invalid": 7}
    assert told.banded_problems == {"data_missing": (1, 4)}
    assert told.banded == {"unlabelled_cases": (1, 4), "left_out": (8, 11)}
    doubted = {"label_empty": 6, "volume_duplicated": 2, "p7_looks_odd": 1}
    doubts = _passed(Reply(manifest=_manifest(counts=counts, doubts=doubted))).manifest
    assert doubts is not None
    assert doubts.doubts == {"label_empty": 6}
    assert doubts.banded_doubts == {"volume_duplicated": (1, 4)}
    exact = _passed(Reply(manifest=_manifest(counts=counts, problems={"geometry_invalid": 9}))).manifest
    assert exact is not None
    assert exact.counts["left_out"] == 9


def test_a_look_at_a_released_model_passes_by_the_rules_of_today_or_not_at_all(
    caplog: pytest.LogCaptureFixture,
) -> None:
    look = a_look("risk", criteria=[{"metric": name, "met": False, "support": 40} for name in ("dice_wt", ID)])
    manifest = _manifest(counts={"train_patients": 60}, monitoring=look)
    told = _passed(Reply(manifest=manifest))
    assert told.manifest is not None
    assert told.manifest.monitoring == a_look("risk", criteria=[{"metric": "dice_wt", "met": False}])
    assert told.notes == ["unlisted_word"]
    with caplog.at_level(logging.INFO):
        held = _passed(Reply(manifest=manifest), minimum_patients=41, minimum_cell=41).manifest
    assert held is not None
    assert held.monitoring is None
    assert "monitoring: held back by the site's disclosure rules" in caplog.text


def test_a_count_of_0_is_told_and_no_range() -> None:
    told = _passed(Reply(manifest=_manifest(counts={"train_patients": 9, "test_patients": 0, "left_out": 0}))).manifest
    assert told is not None
    assert (told.counts, told.banded) == ({"train_patients": 9, "test_patients": 0, "left_out": 0}, {})


def test_of_a_split_with_too_few_patients_no_count_is_told() -> None:
    counts = {"train_patients": 9, "train_cases": 9, "test_patients": 2, "test_cases": 7, "test_positive": 1}
    told = _passed(Reply(manifest=_manifest(counts=counts))).manifest
    assert told is not None
    assert told.counts == {"train_patients": 9, "train_cases": 9}
    assert told.banded == {"test_patients": (1, 2), "test_cases": (1, None), "test_positive": (0, None)}


def test_sums_are_named_where_they_are_held_back() -> None:
    sums = [Tally(name="column_age", counts={"sum": 5.0}, n=9, support=4)]
    cells = [Tally(name="score_bins", counts={"positive_0_9": 5.0}, n=9, support=5)]
    told = _passed(Reply(manifest=_manifest(statistics=sums, suppressed=["train_positive"]), tallies=cells))
    assert told.manifest is not None
    assert (told.manifest.statistics, told.manifest.suppressed) == ([], ["column_age", "train_positive"])
    assert told.tallies == [cells[0].model_copy(update={"support": None})]
    assert told.suppressed == []
    assert _passed(Reply(tallies=cells), minimum_cell=6).suppressed == ["score_bins"]
    assert _passed(Reply(suppressed=["score_bins"])).suppressed == ["score_bins"]


def _cohorts(*patients: int) -> list[Cohort]:
    return [
        Cohort(
            name="age_band", value=value, records=[_record("brier", support=count), _record("dice_wt", support=count)]
        )
        for value, count in zip(PARTS, patients, strict=False)
    ]


def _reasons(told: Reply) -> dict[str, set[str | None]]:
    return {cohort.value: {record.reason for record in cohort.records} for cohort in told.cohorts}


def test_where_one_part_is_small_the_next_smallest_goes_with_it() -> None:
    """The figures of all patients less those of the parts that are told would be the small part's."""
    reasons = _reasons(_passed(Reply(records=[_record("brier")], cohorts=_cohorts(30, 4, 20, 9))))
    assert reasons == {
        "young": {None},
        "middle": {"fewer_than_minimum_cell"},
        "old": {None},
        "oldest": {"complementary"},
    }
    two_small = _reasons(_passed(Reply(cohorts=_cohorts(30, 4, 20, 3))))
    assert two_small["young"] == two_small["old"] == {None}  # 7 patients are hidden together


def test_what_the_workload_held_back_already_needs_no_second_time() -> None:
    cohorts = _cohorts(30, 20)
    hidden = Cohort(name="age_band", value="old", records=[suppressed("brier"), suppressed("dice_wt")])
    assert _reasons(_passed(Reply(cohorts=[*cohorts, hidden]))) == {
        "young": {None},
        "middle": {None},
        "old": {"fewer_than_minimum_cell"},
    }


def test_a_line_of_an_alert_table_goes_as_a_whole() -> None:
    """PPV with its counts, beside the counts of all, gives NPV away."""
    row = AlertRow(
        goal="ppv", target=0.5, threshold=0.5, records=[_record("ppv", support=9), _record("npv", support=4)]
    )
    (told,) = _passed(Reply(alerts=[row])).alerts
    assert told.records == [suppressed("ppv"), suppressed("npv")]
    assert told.threshold == 0.5


def test_a_failure_is_its_code_and_nothing_else() -> None:
    reply = Reply(error=Reason.DATA_MISSING, records=[_record()], notes=["patient_0042"])
    assert _passed(reply) == Reply(error=Reason.DATA_MISSING)


ID = "patient_0042"


@pytest.mark.parametrize(
    "reply",
    [
        Reply(records=[_record(ID)]),
        Reply(records=[_record(status=Status.LOW_SUPPORT, reason=ID)]),
        Reply(records=[suppressed("dice_wt", ID)]),
        Reply(tallies=[Tally(name=ID, counts={"sum": 1.0}, n=9, support=9)]),
        Reply(tallies=[Tally(name="column_age", counts={ID: 1.0}, n=9, support=9)]),
        Reply(cohorts=[Cohort(name="age_band", value=ID, records=[_record()])]),
        Reply(cohorts=[Cohort(name=ID, value="young", records=[_record()])]),
        Reply(cohorts=[Cohort(name="age_band", value="young", records=[_record(ID)])]),
        Reply(alerts=[AlertRow(goal="ppv", target=0.5, threshold=None, reason=ID)]),
        Reply(alerts=[AlertRow(goal="ppv", target=0.5, threshold=0.5, records=[_record(ID)])]),
        Reply(notes=[ID]),
        Reply(suppressed=[ID]),
        Reply(manifest=_manifest(counts={"train_patients": 9, ID: 9})),
        Reply(manifest=_manifest(problems={ID: 9})),
        Reply(manifest=_manifest(metric_names=("dice_wt", ID))),
        Reply(manifest=_manifest(suppressed=[ID])),
        Reply(manifest=_manifest(statistics=[Tally(name=ID, counts={"sum": 1.0}, n=9, support=9)])),
        Reply(manifest=_manifest(versions={ID: "1.0"})),
    ],
)
def test_a_text_that_is_no_word_of_ours_stays_wherever_it_stands_and_is_not_dropped_without_a_word(
    reply: Reply,
) -> None:
    told = _passed(reply)
    text = json.dumps(told.model_dump(mode="json"))
    assert ID not in text
    assert "unlisted_word" in text


def test_a_path_a_date_or_a_sentence_is_no_code_at_all() -> None:
    for text in ("/data/patient-0042/t1c.nii.gz", "1950-01-31", "cannot read it", "Müller"):
        with pytest.raises(ValidationError):
            Reply(notes=[text])


def test_rules_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(ValidationError, match="minimum_cell 5 is below minimum_patients 10"):
        Disclosure(minimum_patients=10)
    assert Disclosure(minimum_patients=10, minimum_cell=10).minimum_cell == 10


def test_rounding_can_be_left_out() -> None:
    assert _passed(Reply(records=[_record()]), significant_digits=None).records[0].value == 0.123456789


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
