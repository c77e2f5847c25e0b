import pytest

from wardround.records.reasons import Reason, WardroundError
from wardround.records.study import Study
from wardround.workloads.direction import check_direction


def _study(kind: str, name: str, **mode: str) -> Study:
    return Study.model_validate(
        {
            "name": "small",
            "workload": {"kind": kind},
            "training": {"rounds": 1, "local_steps": 1, "learning_rate": 0.01},
            "evaluation": {"key_metric": name, **mode},
        }
    )


@pytest.mark.parametrize(
    ("kind", "name", "mode"),
    [
        ("clinical_risk", "brier", "min"),
        ("clinical_risk", "log_loss", "min"),
        ("clinical_risk", "auroc", "max"),
        ("clinical_risk", "auprc", "max"),
        ("clinical_risk", "brier_skill", "max"),
        ("brain_tumor", "dice_mean", "max"),
        ("brain_tumor", "false_positive_volume_tc", "min"),
    ],
)
def test_the_worst_round_is_never_chosen_for_the_best(kind, name, mode):
    check_direction(_study(kind, name, key_metric_mode=mode))
    other = {"min": "max", "max": "min"}[mode]
    with pytest.raises(WardroundError, match=rf"by {name}, .*write key_metric_mode: {mode}") as raised:
        check_direction(_study(kind, name, key_metric_mode=other))
    assert raised.value.code is Reason.CONFIGURATION_INVALID


def test_a_lower_is_better_metric_without_a_mode_is_told_which_it_needs():
    with pytest.raises(WardroundError, match=r"the default is max.*write key_metric_mode: min"):
        check_direction(_study("clinical_risk", "brier"))


@pytest.mark.parametrize(("kind", "name"), [("clinical_risk", "kappa"), ("other", "brier")])
def test_a_metric_that_no_vocabulary_knows_goes_either_way(kind, name):
    for mode in ("min", "max"):
        check_direction(_study(kind, name, key_metric_mode=mode))
