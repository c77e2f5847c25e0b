"""Words come from the installed workloads, and the most exact name wins."""

import pytest

from wardround.cli.model import figure_lines
from wardround.records.metric_record import MetricRecord
from wardround.reporting.vocabulary import (
    arm_title,
    in_reading_order,
    in_words,
    listed_by_family,
    measure,
    support_text,
)
from wardround.reporting.words import VOCABULARIES, vocabulary_of
from wardround.workloads.workload import kinds


@pytest.mark.parametrize(
    ("name", "title", "higher"),
    [
        ("brier", "Brier score", False),
        ("brier_skill", "Brier skill", True),
        ("brier_within_bin", "Within bin", False),
        ("calibration_error", "Calibration error", False),
        ("dice_wt", "Dice, whole tumor", True),
        ("brats_dice_wt", "Dice, BraTS convention, whole tumor", True),
        ("never_heard_of", "never heard of", True),
    ],
)
def test_an_exact_name_wins_over_a_beginning(name: str, title: str, higher: bool) -> None:
    found = measure(name)
    assert (found.title, found.family.higher_is_better) == (title, higher)


def test_every_installed_workload_has_words() -> None:
    assert sorted(VOCABULARIES) == kinds()
    assert vocabulary_of("none").families == ()


def test_counts_are_told_in_the_metrics_own_way() -> None:
    assert support_text(MetricRecord(name="auprc", value=0.4, n=80, n_positive=12)) == "80, 12 positive"
    assert support_text(MetricRecord(name="auprc", value=0.4, n=80, n_positive=80)) == "80, 80 positive"
    assert support_text(MetricRecord(name="dice_et", value=0.4, n=8, n_positive=6)) == "6 of 8"


def test_names_in_reading_order_and_few_words() -> None:
    assert in_reading_order(["dice_mean", "dice_et", "auroc", "dice_wt"]) == [
        "dice_wt",
        "dice_et",
        "dice_mean",
        "auroc",
    ]
    assert listed_by_family(["column_age", "column_chol", "auroc"]) == "Sums by column (age, chol); AUROC"


def test_codes_and_arms_in_words() -> None:
    assert in_words("one_class") == "only one outcome occurs, so it has no value"
    assert arm_title("reference") == "Logistic regression, own data"
    assert in_words("quite_new") == "quite new"


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
