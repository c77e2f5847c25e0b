"""job.yaml: faults are told by file and key, overrides change one key, the digest follows the settings."""

from pathlib import Path

import pytest
import yaml

from wardround.records.reasons import Reason, WardroundError
from wardround.records.study import check_key_metric, load_study

SETTINGS = {
    "name": "study",
    "workload": {"kind": "brain_tumor"},
    "training": {"rounds": 2, "local_steps": 3, "learning_rate": 0.01},
    "evaluation": {"key_metric": "dice_mean"},
}


@pytest.fixture
def job(tmp_path: Path) -> Path:
    (tmp_path / "job.yaml").write_text(yaml.safe_dump(SETTINGS))
    return tmp_path


def test_an_override_changes_its_key_alone(job: Path) -> None:
    plain, changed = load_study(job), load_study(job, ("algorithm.kind=fedprox", "algorithm.mu=0.01"))
    assert (changed.algorithm.kind, changed.algorithm.mu) == ("fedprox", 0.01)
    assert changed.training == plain.training
    assert changed.digest() != plain.digest()


def test_the_digest_does_not_depend_on_the_order_of_keys(job: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.yaml"
    other.write_text(yaml.safe_dump(dict(reversed(SETTINGS.items())), sort_keys=False))
    assert load_study(other).digest() == load_study(job).digest()


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("training.rounds=0", "training.rounds"),
        ("training.typo=1", "training.typo"),
        ("training.local_epochs=1", "exactly one of local_steps and local_epochs"),
        ("algorithm.kind=fedprox", "mu > 0"),
        ("algorithm.mu=0.1", "does nothing"),
        ("algorithm.keep_local=silobn", "does nothing with kind fedavg"),
        ("algorithm.mu=-1", "algorithm.mu"),
        ("training.clip_norm=.inf", "training.clip_norm"),
        ("aggregation={norm_limit: .inf}", "aggregation.norm_limit"),
        ("federation={round_deadline_seconds: 30}", "grace_period_seconds 30 does nothing"),
        ("algorithm.mu=.inf", "algorithm.mu"),
        ("name=x.y=z", "name"),
        ("seed", "expected key.path=value"),
        ("name.x=1", "not a section"),
    ],
)
def test_a_wrong_setting_is_told_by_its_key(job: Path, override: str, told: str) -> None:
    with pytest.raises(WardroundError) as caught:
        load_study(job, (override,))
    assert told in str(caught.value)
    assert caught.value.code is Reason.CONFIGURATION_INVALID


@pytest.mark.parametrize("key", ["contract", "stages"])
def test_a_file_that_the_workload_names_becomes_part_of_the_study(job: Path, key: str) -> None:
    (job / "own.yaml").write_text("columns: [age]\n")
    named = load_study(job, (f"workload.{key}=own.yaml",))
    assert named.workload[key] == {"columns": ["age"]}
    (job / "own.yaml").write_text("columns: [age, sex]\n")
    assert load_study(job, (f"workload.{key}=own.yaml",)).digest() != named.digest()
    with pytest.raises(WardroundError, match=f"workload.{key}, a file beside job.yaml"):
        load_study(job, (f"workload.{key}=gone.yaml",))


@pytest.mark.parametrize("path", ["../own.yaml", "/etc/own.yaml", "folder/own.yml"])
def test_a_file_elsewhere_is_no_part_of_the_study(job: Path, path: str) -> None:
    with pytest.raises(WardroundError, match="bare name of a file"):
        load_study(job, (f"workload.contract={path}",))


def test_a_missing_file_and_broken_yaml_are_told(tmp_path: Path) -> None:
    with pytest.raises(WardroundError, match="No such file"):
        load_study(tmp_path)
    (tmp_path / "job.yaml").write_text("a: [")
    with pytest.raises(WardroundError, match="not readable as YAML"):
        load_study(tmp_path)


@pytest.mark.parametrize(
    ("override", "device", "told"),
    [
        ("training.mixed_precision=true", "cpu", "mixed_precision does nothing on cpu"),
        ("training.mixed_precision=true", "cuda", None),
        ("training={rounds: 1, local_steps: 9, learning_rate: 1, schedule: constant}", "cpu", None),
        (
            "training={rounds: 1, local_steps: 9, learning_rate: 1, schedule: constant, final_fraction: 0.5}",
            "cpu",
            "final_fraction 0.5 does nothing",
        ),
        ("training={rounds: 1, local_steps: 9, learning_rate: 1, bad_steps_limit: 10}", "cpu", "is never reached in 9"),
    ],
)
def test_a_setting_that_does_nothing_is_told(job: Path, override: str, device: str, told: str | None) -> None:
    study = load_study(job, ("training.local_steps=9", override))
    idle = study.training.idle(device)
    assert len(idle) == (told is not None)
    assert all(told in sentence for sentence in idle if told)


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("brier_skill", "brier_skill is computed only after the last round"),
        ("calibration_error", "calibration_error is computed only after the last round"),
        ("calibration_shape", "calibration is computed only after the last round"),
        ("brier_score", "is not reported by the workload"),  # begins like a late metric, and like one of each round
        ("f1", "is not reported by the workload"),
    ],
)
def test_a_key_metric_of_no_round_is_told_as_late_or_unknown(job: Path, key: str, told: str) -> None:
    names, last = ("auroc", "brier"), ("accuracy", "brier_skill", "calibration_error", "calibration_slope")
    study = load_study(job, (f"evaluation.key_metric={key}",))
    with pytest.raises(WardroundError, match=told) as caught:
        check_key_metric(study, names, "the workload", last=last)
    assert caught.value.code is Reason.METRIC_UNKNOWN
    check_key_metric(load_study(job, ("evaluation.key_metric=brier",)), names, "the workload", last=last)


def test_a_key_without_a_default_is_told_as_missing(job: Path) -> None:
    file = job / "job.yaml"
    training = {"rounds": 2, "local_steps": 3}
    file.write_text(yaml.safe_dump({"name": "study", "workload": {"kind": "brain_tumor"}, "training": training}))
    with pytest.raises(WardroundError) as raised:
        load_study(job)
    assert str(raised.value).splitlines() == [
        f"{file}: training.learning_rate: missing, and there is no default; add it",
        f"{file}: evaluation: missing, and there is no default; add it",
    ]


def test_a_fault_is_told_in_the_projects_words_alone(job: Path) -> None:
    with pytest.raises(WardroundError) as raised:
        load_study(job, ("training.local_epochs=1",))
    told = f"{job / 'job.yaml'} with --set training.local_epochs=1: training: give exactly one of"
    assert str(raised.value).startswith(told)


def test_a_fault_of_an_override_is_not_blamed_on_the_file_alone(job: Path) -> None:
    with pytest.raises(WardroundError, match=r"job.yaml with --set training.rounds=-3: training.rounds: .*found -3"):
        load_study(job, ("training.rounds=-3",))
