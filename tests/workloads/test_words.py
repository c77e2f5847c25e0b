"""A workload's words are those that it uses: no more can leave, and no less, or figures would be lost."""

from typing import get_args

import pytest

from support.made_tables import made_study
from wardround.metrics.alerts import FIGURES
from wardround.records.alerts import Goal
from wardround.records.disclosure import Disclosure
from wardround.records.orders import Reply
from wardround.records.reasons import Reason, WardroundError
from wardround.records.words import CODES
from wardround.reporting.common_words import CODES as TOLD_IN_REPORTS
from wardround.site.gate import guard
from wardround.workloads.brain_tumor import workload as brain_tumor
from wardround.workloads.brain_tumor.settings import REGIONS
from wardround.workloads.clinical_risk import workload as clinical_risk
from wardround.workloads.clinical_risk.scoring import COHORT_METRICS
from wardround.workloads.clinical_risk.statistics import tally_names
from wardround.workloads.words import words_of


def test_the_figures_of_brain_tumor_are_its_words() -> None:
    made = brain_tumor.make({})
    words = words_of({"kind": "brain_tumor"})
    assert words.figures == {*made.metric_names(), *made.last_metric_names()}
    for region in REGIONS:
        assert words.knows_sum_of(f"voxels_{region}", {"both": 1, "predicted": 1, "reference": 1})


def test_the_figures_columns_and_groups_of_clinical_risk_are_its_words() -> None:
    study = made_study()
    settings = {key: value for key, value in study.workload.items() if key != "kind"}
    made = clinical_risk.make(settings)
    words = words_of(study.workload)
    assert words.figures == {*made.metric_names(), *made.last_metric_names(), *COHORT_METRICS, *FIGURES}
    for name in tally_names(made.settings.contract):
        assert words.knows_sum_of(name, {"sum": 1.0, "sum_of_squares": 1.0})
    assert not words.knows_sum("column_unheard_of")
    assert set(words.cohorts) == {cohort.name for cohort in made.settings.contract.cohorts}


def test_cells_have_the_only_numbered_names() -> None:
    words = words_of(made_study().workload)
    assert words.knows_sum_of("score_bins", {"positive_0_512": 5.0, "negative_sum_512_1024": 1.0})
    assert not words.knows_sum_of("score_bins", {"positive_0042": 5.0})
    assert not words.knows_sum_of("squared_error", {"sum": 1.0, "positive_0_512": 1.0})


def test_a_workload_that_says_no_words_is_refused() -> None:
    with pytest.raises(WardroundError, match=r"no words\.py") as caught:
        words_of({"kind": "unheard_of"})
    assert caught.value.code is Reason.CONFIGURATION_INVALID


def test_every_goal_of_an_alert_is_a_figure_or_a_share() -> None:
    assert set(get_args(Goal)) <= set(FIGURES)


def test_reports_have_words_for_what_the_gate_says() -> None:
    said = guard(Reply(notes=["patient_0042"]), Disclosure(), words_of({"kind": "brain_tumor"})).reply.notes
    assert {*said, "not_allowed", "fewer_than_minimum_patients", "fewer_than_minimum_cell"} <= set(TOLD_IN_REPORTS)
    assert set(said) <= CODES
