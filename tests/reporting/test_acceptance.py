"""Criteria decide by the worse end of an interval, and by nothing where there is none."""

import pytest

from support.made_release import run_lines
from support.made_risk_run import whole_risk_run
from support.made_run import without_value
from wardround.records.acceptance_outcome import AcceptanceOutcome, CriterionOutcome, check_at_site
from wardround.records.metric_record import MetricRecord, Status, suppressed, undefined
from wardround.records.run_lines import DifferenceLine, RunLine, ScoreLine, StartLine
from wardround.reporting.acceptance import check_criteria, outcome_lines
from wardround.reporting.summary import summarise
from wardround.reporting.words import words_of


def outcome(criteria: dict, lines: list[RunLine] | None = None, arm: str = "best") -> AcceptanceOutcome:
    made = lines or run_lines(criteria)
    study = {**made[0].study, "acceptance": criteria}  # type: ignore[union-attr]
    return check_criteria(summarise([made[0].model_copy(update={"study": study}), *made[1:]]), arm)


def met_at(criterion: CriterionOutcome) -> dict[str, bool]:
    return {check.site: check.met for check in criterion.sites}


def test_the_bound_decides_and_not_the_value() -> None:
    """hospital-d has 0.68, from 0.65 to 0.71."""
    assert outcome({"worst_site": {"dice_mean": 0.65}}).met
    found = outcome({"worst_site": {"dice_mean": 0.66}})
    assert not found.met
    assert met_at(found.criteria[0]) == {
        "hospital-a": True,
        "hospital-b": True,
        "hospital-c": True,
        "hospital-d": False,
    }
    assert found.criteria[0].sites[3].bound == 0.65


def test_where_lower_is_better_the_upper_bound_decides() -> None:
    """At hospital-d HD95 is 5.2, to 5.23."""
    assert outcome({"worst_site": {"hd95_wt": 5.24}}).met
    assert not outcome({"worst_site": {"hd95_wt": 5.22}}).met


def test_against_its_own_model_the_whole_paired_interval_must_be_within_the_margin() -> None:
    """hospital-c loses 0.071, from 0.120 to 0.030; outside hospitals have no model of their own."""
    assert outcome({"worse_than_alone": {"dice_mean": 0.12}}).met
    found = outcome({"worse_than_alone": {"dice_mean": 0.1}})
    assert met_at(found.criteria[0]) == {"hospital-a": True, "hospital-b": True, "hospital-c": False}


def test_against_its_own_model_where_lower_is_better() -> None:
    """va's Brier score is higher by 0.010, from 0.002 to 0.019."""
    assert outcome({"worse_than_alone": {"brier": 0.019}}, whole_risk_run()).met
    found = outcome({"worse_than_alone": {"brier": 0.018}}, whole_risk_run())
    assert met_at(found.criteria[0]) == {"cleveland": True, "hungary": True, "va": False}


def test_a_figure_on_few_cases_or_undefined_meets_nothing_however_good() -> None:
    found = outcome({"worst_site": {"brier_skill": -10.0}}, whole_risk_run()).criteria[0]
    assert met_at(found) == {"cleveland": True, "hungary": True, "va": False, "switzerland": False}
    reasons = {check.site: check.reason for check in found.sites}
    assert (reasons["va"], reasons["switzerland"]) == ("fewer_than_10_positives", "one_class")


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (None, "not_reported"),
        (MetricRecord(name="x", value=1.0, n=8), "no_interval"),
        (suppressed("x"), "fewer_than_minimum_cell"),
        (undefined("x", "one_class"), "one_class"),
        (
            MetricRecord(name="x", value=1.0, n=2, status=Status.LOW_SUPPORT, reason="few_cases", interval=(0.9, 1.0)),
            "few_cases",
        ),
    ],
)
def test_what_has_no_sure_interval_meets_nothing_and_says_why(record: MetricRecord | None, reason: str) -> None:
    check = check_at_site("hospital-a", record, 0.0, higher=True)
    assert (check.met, check.reason, check.bound) == (False, reason, None)


def test_a_run_without_baselines_was_not_compared() -> None:
    lines = [line for line in run_lines() if not isinstance(line, DifferenceLine)]
    found = outcome({"worse_than_alone": {"dice_mean": 1.0}}, lines)
    assert {check.reason for check in found.criteria[0].sites} == {"not_compared"}


def test_a_site_that_was_not_scored_or_never_came_meets_nothing() -> None:
    lines = [line for line in run_lines() if not (isinstance(line, ScoreLine) and line.site == "hospital-b")]
    assert met_at(outcome({"worst_site": {"dice_mean": 0.1}}, lines).criteria[0])["hospital-b"] is False
    lines = run_lines()
    assert isinstance(lines[0], StartLine)
    lines[0] = lines[0].model_copy(update={"missing": ["hospital-z"]})
    for criteria in ({"worst_site": {"dice_mean": 0.1}}, {"worse_than_alone": {"dice_mean": 1.0}}):
        assert met_at(outcome(criteria, lines).criteria[0])["hospital-z"] is False


def test_a_held_back_figure_of_one_site_fails_the_criterion() -> None:
    lines = without_value(run_lines(), "best", "hospital-a", "dice_mean", Status.SUPPRESSED, "fewer_than_minimum_cell")
    found = outcome({"worst_site": {"dice_mean": 0.1}}, lines)
    assert [check.site for check in found.criteria[0].sites if not check.met] == ["hospital-a"]


def test_the_arm_that_is_asked_for_is_the_one_that_is_checked() -> None:
    """last has 0.67 at hospital-d, from 0.64."""
    assert outcome({"worst_site": {"dice_mean": 0.645}}).met
    found = outcome({"worst_site": {"dice_mean": 0.645}}, arm="last")
    assert (found.met, found.model_round) == (False, 4)


def test_the_last_model_is_held_against_own_models_by_its_own_differences() -> None:
    """That of best says nothing of last, which is another model."""
    lines = run_lines()
    best = [line for line in lines if isinstance(line, DifferenceLine) and line.arm == "best"]
    of_last = [line.model_copy(update={"arm": "last"}) for line in best if line.site != "hospital-b"]
    found = outcome({"worse_than_alone": {"dice_mean": 0.12}}, [*lines, *of_last], arm="last").criteria[0]
    assert met_at(found) == {"hospital-a": True, "hospital-b": False, "hospital-c": True}
    assert [check.reason for check in found.sites] == [None, "not_compared", None]


def test_without_a_criterion_nothing_is_met() -> None:
    found = outcome({})
    assert not found.met
    assert "nothing can be released" in outcome_lines(found, words_of("brain_tumor"))[0]


def test_lines_tell_the_figure_that_is_short() -> None:
    found = outcome({"worst_site": {"dice_mean": 0.66}, "worse_than_alone": {"dice_mean": 0.15}})
    told = "\n".join(outcome_lines(found, words_of("brain_tumor"))).replace("\N{NO-BREAK SPACE}", " ")
    assert "Dice, mean of regions, at every site: at least 0.660: NOT MET" in told
    assert "hospital-d 0.680, 95 % interval 0.650 to 0.710, n 8: not met, judged by 0.650" in told
    assert "against each site's own model: worse by at most 0.150: met" in told
    risk = outcome({"worst_site": {"brier_skill": 0.0}}, whole_risk_run())
    assert "n 40 (6 positive): not met, fewer than 10 patients with the outcome" in "\n".join(
        outcome_lines(risk, words_of("clinical_risk"))
    )
