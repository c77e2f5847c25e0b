"""Criteria of a release ask for values that their figures can have."""

import pytest

from support.fake_workload import make_study
from wardround.records.reasons import Reason, WardroundError
from wardround.records.study import Study
from wardround.reporting.vocabularies import VOCABULARIES
from wardround.workloads.possible import check_possible


def _study(kind: str, **acceptance: dict[str, float]) -> Study:
    return make_study(workload={"kind": kind}, acceptance=acceptance)


@pytest.mark.parametrize(
    ("kind", "name", "value", "told"),
    [
        ("clinical_risk", "auroc", 70, "expected 0 to 1, as AUROC can be, found 70; write 0.7 if 70 % was meant"),
        ("clinical_risk", "auprc", 70, "expected 0 to 1"),
        ("clinical_risk", "brier", 5, "expected 0 to 1, as Brier score can be, found 5"),
        ("clinical_risk", "brier", -0.1, "expected 0 to 1, as Brier score can be, found -0.1; write a value in that"),
        ("clinical_risk", "brier_skill", 1.01, "expected at most 1, as Brier skill can be"),
        ("clinical_risk", "log_loss", -1, "expected at least 0"),
        ("brain_tumor", "dice_mean", 74, "expected 0 to 1, as Dice can be, found 74; write 0.74"),
        ("brain_tumor", "hd95_et", -1, "expected at least 0"),
    ],
)
def test_a_value_that_a_figure_cannot_have_is_refused(kind: str, name: str, value: float, told: str) -> None:
    with pytest.raises(WardroundError) as caught:
        check_possible(_study(kind, worst_site={name: value}))
    assert caught.value.code is Reason.CONFIGURATION_INVALID
    assert str(caught.value).startswith(f"acceptance.worst_site.{name}: {told}")


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        ("clinical_risk", "brier_skill", -100),
        ("clinical_risk", "brier", 1.0),
        ("clinical_risk", "auroc", 0),
        ("clinical_risk", "calibration_slope", 3),
        ("brain_tumor", "dice_mean", 0.74),
        ("brain_tumor", "hd95_mean", 400),
        ("clinical_risk", "kappa", 7),
        ("other", "brier", 7),
    ],
)
def test_what_a_figure_can_be_may_be_asked_for(kind: str, name: str, value: float) -> None:
    check_possible(_study(kind, worst_site={name: value}))


def test_a_margin_may_be_of_any_size() -> None:
    check_possible(_study("clinical_risk", worse_than_alone={"brier": 100.0}))


def test_a_range_is_one() -> None:
    assert all(one.lowest < one.highest for vocabulary in VOCABULARIES.values() for one in vocabulary.families)
