"""The summary says what the record says, and no more."""

import pytest

from support.made_run import DIFFERENCES, KEPT, OUTSIDE, TRAINING, round_line, start, whole_run, without_value
from wardround.records.metric_record import MetricRecord, Status
from wardround.records.reasons import WardroundError
from wardround.records.run_lines import DifferenceLine, EndLine, JoinLine, RoundLine, ScoreLine
from wardround.records.scores import Tally
from wardround.reporting.headline import gains
from wardround.reporting.model import Summary
from wardround.reporting.page import render_page
from wardround.reporting.summary import summarise
from wardround.reporting.table import pooled_dice
from wardround.reporting.words import words_of


def test_complete_run_gives_the_table_with_home_and_away_scores() -> None:
    summary = summarise(whole_run())
    assert summary.ending.status == "complete"
    assert [site.name for site in summary.sites] == [*TRAINING, OUTSIDE]
    assert len(summary.table) == 7 * 4
    assert summary.records_at("alone", "hospital-b")["dice_wt"].value == 0.81
    assert summary.records_at("alone:hospital-a", OUTSIDE)["dice_wt"].value == 0.55
    assert summary.records_at("alone", OUTSIDE) == {}
    assert Summary.model_validate_json(summary.model_dump_json()) == summary


def test_means_count_training_sites_once_and_name_the_worst() -> None:
    overall = {(row.arm, row.metric): row for row in summarise(whole_run()).overall}
    best = overall["best", "dice_wt"]
    assert best.mean == pytest.approx((0.88 + 0.80 + 0.91) / 3)
    assert (best.worst_site, best.worst) == ("hospital-b", 0.80)
    assert overall["alone", "dice_wt"].mean == pytest.approx((0.86 + 0.81 + 0.84) / 3)
    distance = overall["best", "hd95_wt"]  # lower is better, so the worst is the largest
    assert (distance.worst_site, distance.worst) == ("hospital-b", 4.0)
    assert not any(arm.startswith("alone:") for arm, _ in overall)


@pytest.mark.parametrize("status", [Status.UNDEFINED, Status.SUPPRESSED])
def test_a_figure_without_value_is_left_out_by_name_never_a_zero(status: Status) -> None:
    lines = without_value(whole_run(), "best", "hospital-b", "dice_et", status, "no_positive_case")
    summary = summarise(lines)
    row = next(row for row in summary.overall if (row.arm, row.metric) == ("best", "dice_et"))
    assert row.mean == pytest.approx((0.80 + 0.83) / 2)
    assert row.left_out == {"hospital-b": "no_positive_case"}
    assert row.worst_site == "hospital-a"
    assert summary.records_at("best", "hospital-b")["dice_et"].value is None


def test_low_support_keeps_its_value_but_is_not_ranked() -> None:
    weak = MetricRecord(name="dice_wt", value=0.1, n=2, status=Status.LOW_SUPPORT, reason="few_cases")
    lines = [
        line.model_copy(update={"records": [weak]})
        if isinstance(line, ScoreLine) and (line.arm, line.site, line.split) == ("best", "hospital-c", "test")
        else line
        for line in whole_run()
    ]
    summary = summarise(lines)
    row = next(row for row in summary.overall if (row.arm, row.metric) == ("best", "dice_wt"))
    assert row.worst_site == "hospital-b"
    assert row.left_out == {"hospital-c": "few_cases"}
    assert summary.records_at("best", "hospital-c")["dice_wt"].value == 0.1


def test_verdicts_follow_the_interval_and_no_gain_is_said() -> None:
    summary = summarise(whole_run())
    assert {gain.site: gain.verdict for gain in gains(summary)} == {
        "hospital-a": "better",
        "hospital-b": "not_shown",
        "hospital-c": "worse",
        OUTSIDE: "outside",
    }
    assert gains(summary)[1].comparison.difference.interval == DIFFERENCES["hospital-b"][1]
    assert gains(summary)[3].neighbours == [0.49, 0.52, 0.64]


def test_a_difference_without_interval_claims_nothing() -> None:
    weak = MetricRecord(name="dice_mean", value=0.3, n=2, status=Status.LOW_SUPPORT, reason="fewer_than_3_patients")
    lines = [
        line.model_copy(update={"records": [weak]}) if isinstance(line, DifferenceLine) else line
        for line in whole_run()
    ]
    assert {gain.verdict for gain in gains(summarise(lines))} == {"too_few", "outside"}


def test_without_baselines_nothing_is_claimed_against_alone() -> None:
    lines = [line for line in whole_run() if line.kind not in ("difference", "baseline_round")]
    lines = [line for line in lines if not (isinstance(line, ScoreLine) and line.arm.startswith("alone"))]
    summary = summarise(lines)
    assert {gain.verdict for gain in gains(summary)} == {"unknown", "outside"}


def test_curves_end_with_the_last_model_and_break_where_a_site_was_silent() -> None:
    silent = round_line(2)
    silent = silent.model_copy(update={"sites": {k: v for k, v in silent.sites.items() if k != "hospital-b"}})
    lines = [silent if isinstance(line, RoundLine) and line.round == 2 else line for line in whole_run()]
    curves = {(curve.arm, curve.site, curve.metric): curve for curve in summarise(lines).curves}
    whole = curves["federated", "hospital-a", "dice_wt"]
    assert [point.rounds for point in whole.points] == [0, 1, 2, 3, 4]
    assert whole.points[-1].record.value == 0.85
    assert [point.rounds for point in curves["federated", "hospital-b", "dice_wt"].points] == [0, 1, 3, 4]
    assert len(curves["alone:hospital-a", "hospital-a", "dice_mean"].points) == 5


def test_round_keeps_rejections_lateness_and_weights_of_contributors() -> None:
    odd = round_line(1, contributed=["hospital-a", "hospital-c"], rejected={"hospital-b": "not_finite"})
    odd = odd.model_copy(update={"late": ["hospital-c"], "failed": {}})
    summary = summarise([start(), odd, EndLine(status="failed", reasons=["quorum_not_met"])])
    line = summary.rounds[0]
    assert line.round == 2
    assert line.rejected == {"hospital-b": "not_finite"}
    assert line.weights == {"hospital-a": 0.5, "hospital-c": 0.5}
    assert summary.ending.reasons == ["quorum_not_met"]


def test_what_stayed_local_is_named_for_fedbn() -> None:
    assert summarise(whole_run(KEPT)).sites[0].kept_local == list(KEPT)
    site = summarise(whole_run()).sites[0]
    assert (site.shared_entries, site.shared_numbers, site.times_sent) == (2, 16 * 4 * 27 + 16, 4)


def test_what_left_is_what_the_server_got_baselines_apart() -> None:
    sites = {site.name: site for site in summarise(whole_run()).sites}
    assert {"dice_wt", "hd95_wt", "brats_dice_wt"} <= set(sites[OUTSIDE].figures_sent)
    assert sites[OUTSIDE].sums_sent == ["voxels_wt"]
    assert sites[OUTSIDE].times_sent == 0
    only_baselines = [line for line in whole_run() if getattr(line, "arm", "alone:").startswith(("alone:", "pooled"))]
    only_baselines = [line for line in only_baselines if not isinstance(line, RoundLine)]
    assert summarise(only_baselines).sites[0].figures_sent == []


def test_voxels_are_pooled_from_counts_with_alone_at_home() -> None:
    rows = {row.arm: row for row in summarise(whole_run()).pooled}
    assert rows["best"].dice == pytest.approx(2 * 80 / 210)
    assert (rows["best"].cases, rows["alone"].cases) == (32, 24)
    assert rows["best"].sites == [*TRAINING, OUTSIDE]


def test_a_site_without_metrics_makes_the_run_partial_and_is_named() -> None:
    lines = [line for line in whole_run() if not (isinstance(line, ScoreLine) and line.site == "hospital-c")]
    ending = summarise(lines).ending
    assert ending.status == "partial"
    assert ending.reasons == ["hospital-c: metrics_missing"]


def test_a_record_without_an_end_is_a_stopped_run() -> None:
    assert summarise(whole_run()[:-1]).ending.status == "stopped"


def test_absent_site_is_named() -> None:
    lines = whole_run()
    lines[0] = lines[0].model_copy(update={"missing": ["hospital-e"]})
    summary = summarise(lines)
    assert summary.missing == ["hospital-e"]
    assert summary.ending.status == "partial"


def test_a_site_that_refuses_the_contract_is_told_in_words() -> None:
    lines = whole_run()
    lines[0] = lines[0].model_copy(update={"missing": ["hospital-e"]})
    lines[-1] = EndLine(status="partial", reasons=["hospital-e: late", "hospital-e: contract_mismatch"])
    assert "data contract to be another than it agreed to" in render_page(summarise(lines), ())


def test_a_site_that_joined_late_is_a_site_like_the_others_and_not_absent() -> None:
    whole = whole_run()
    ready = whole[0].model_copy(update={"sites": [s for s in whole[0].sites if s.site != "hospital-c"]})
    (manifest,) = (site for site in whole[0].sites if site.site == "hospital-c")
    reasons = ["hospital-c: late", "hospital-c: joined in round 2", "hospital-e: late"]
    lines = [
        ready.model_copy(update={"missing": ["hospital-c", "hospital-e"]}),
        round_line(0, contributed=["hospital-a", "hospital-b"]),
        JoinLine(round=1, manifest=manifest),
        *whole[2:-1],
        EndLine(status="partial", reasons=reasons),
    ]
    summary = summarise(lines)
    assert [site.name for site in summary.sites] == [*TRAINING, OUTSIDE]
    late = summary.sites[2]
    assert (late.joined_in, late.times_sent) == (2, 3)
    assert summary.missing == ["hospital-e"]
    assert summary.ending.reasons == reasons  # why hospital-e is missing is known: no second, made-up reason
    text = render_page(summary, ())
    assert "joined in round 2" in text
    assert text.count("did not join") == 1


def test_no_start_line_is_a_clear_error() -> None:
    with pytest.raises(WardroundError, match="start line"):
        summarise([round_line(0)])


def test_voxels_without_a_reference_are_undefined_not_zero() -> None:
    empty = Tally(name="voxels_et", counts={"both": 0, "predicted": 50, "reference": 0}, n=1)
    line = ScoreLine(
        arm="best", split="test", site="hospital-a", role="train", model_round=1, records=[], tallies=[empty]
    )
    (row,) = pooled_dice([line], words_of("brain_tumor"))
    assert (row.dice, row.predicted, row.cases) == (None, 50, 1)
