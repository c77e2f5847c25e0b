"""Words come from the run's own workload, then from those that all share; the most exact name wins."""

import pytest

from wardround.cli.model import figure_lines
from wardround.learners.adapt import OF_SCORED_CASES, RE_MEASURED
from wardround.records.metric_record import MetricRecord
from wardround.reporting import common_words
from wardround.reporting.vocabularies import VOCABULARIES, vocabulary_of
from wardround.reporting.words import Words, words_of
from wardround.workloads.registry import kinds
from wardround.workloads.vocabulary import Family, Vocabulary

RISK, IMAGES = words_of("clinical_risk"), words_of("brain_tumor")


@pytest.mark.parametrize(
    ("words", "name", "title", "higher"),
    [
        (RISK, "brier", "Brier score", False),
        (RISK, "brier_skill", "Brier skill", True),
        (RISK, "brier_within_bin", "Within bin", False),
        (RISK, "calibration_error", "Calibration error", False),
        (IMAGES, "dice_wt", "Dice, whole tumor", True),
        (IMAGES, "brats_dice_wt", "Dice, BraTS convention, whole tumor", True),
        (IMAGES, "never_heard_of", "never heard of", True),
    ],
)
def test_an_exact_name_wins_over_a_beginning(words: Words, name: str, title: str, higher: bool) -> None:
    found = words.measure(name)
    assert (found.title, found.family.higher_is_better) == (title, higher)


def test_every_installed_workload_has_words() -> None:
    assert sorted(VOCABULARIES) == kinds()
    assert vocabulary_of("none").families == ()


def test_counts_are_told_in_the_metrics_own_way() -> None:
    assert RISK.support_text(MetricRecord(name="auprc", value=0.4, n=80, n_positive=12)) == "80, 12 positive"
    assert RISK.support_text(MetricRecord(name="auprc", value=0.4, n=80, n_positive=80)) == "80, 80 positive"
    assert IMAGES.support_text(MetricRecord(name="dice_et", value=0.4, n=8, n_positive=6)) == "6 of 8"


def test_names_in_reading_order_and_few_words() -> None:
    assert IMAGES.in_reading_order(["dice_mean", "dice_et", "auroc", "dice_wt"]) == [
        "dice_wt",
        "dice_et",
        "dice_mean",
        "auroc",
    ]
    assert RISK.listed_by_family(["column_age", "column_chol", "auroc"]) == "Sums by column (age, chol); AUROC"


def test_codes_and_arms_in_words() -> None:
    assert RISK.in_words("one_class") == "only one outcome occurs, so it has no value"
    assert RISK.arm_title("reference") == "Logistic regression, own data"
    assert RISK.in_words("quite_new") == "quite new"


def test_what_a_learner_remarks_has_words_for_any_workload() -> None:
    for code in (RE_MEASURED, OF_SCORED_CASES):
        assert words_of("none").in_words(code) == common_words.CODES[code]


def test_a_code_of_two_workloads_means_what_the_runs_own_says(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Vocabulary(
        families=(Family("brier", "Made score", True, 1),),
        codes={"no_cases": "no recordings to score", "late": "sent its recordings late"},
        arms={"reference": "Made rule"},
        short_arms={"reference": "rule"},
    )
    monkeypatch.setitem(VOCABULARIES, "made", made)
    words = words_of("made")
    assert (words.in_words("no_cases"), words.in_words("late")) == (
        "no recordings to score",
        "sent its recordings late",
    )
    assert (words.measure("brier").title, words.measure("brier").text(0.25)) == ("Made score", "0.2")
    assert (words.arm_title("reference"), words.arm_head("reference")) == ("Made rule", "rule")
    assert RISK.in_words("no_cases") == "no patients to score"
    assert IMAGES.in_words("no_cases") == "no cases to score"
    assert RISK.measure("brier").title == "Brier score"


def test_words_of_one_workload_are_no_other_workloads() -> None:
    assert RISK.measure("dice_wt").title == "dice wt"
    assert IMAGES.in_words("known_too_late") == "known too late"
    assert IMAGES.arm_title("reference") == "Simple model, own data"


def test_a_predictions_figures_are_named_by_the_workload() -> None:
    assert figure_lines("clinical_risk", {"mean_risk": 0.1234, "rows": 40.0, "new": 1.0}) == [
        "predicted risk",
        "  rows                    40",
        "  mean risk            0.123",
        "  new                  1.000",
    ]
    assert figure_lines("brain_tumor", {"et": 1.0, "wt": 3.25})[1:] == [
        "  whole tumor            3.2",
        "  enhancing tumor        1.0",
    ]
