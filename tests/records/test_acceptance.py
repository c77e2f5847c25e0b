"""Criteria of a study: read strictly, and on figures that there are."""

from pathlib import Path

import pytest
import yaml

from support.fake_workload import make_study
from wardround.records.acceptance import Acceptance, check_acceptance
from wardround.records.reasons import Reason, WardroundError
from wardround.records.study import load_study
from wardround.workloads.registry import make_workload

ROOT = Path(__file__).parents[2]


def read(text: str, tmp_path: Path) -> Acceptance:
    settings = make_study().model_dump(mode="json") | {"acceptance": yaml.safe_load(text)}
    (tmp_path / "job.yaml").write_text(yaml.safe_dump(settings))
    return load_study(tmp_path).acceptance


def test_a_study_without_criteria_has_none() -> None:
    assert make_study().acceptance == Acceptance()
    assert make_study().acceptance.names == []


def test_figures_are_named_once(tmp_path: Path) -> None:
    found = read("{worst_site: {accuracy: 0.7, balance: 0.5}, worse_than_alone: {accuracy: 0}}", tmp_path)
    assert found.names == ["accuracy", "balance"]
    assert found.worse_than_alone == {"accuracy": 0.0}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{worst_sites: {accuracy: 0.7}}", "did you mean acceptance.worst_site"),
        ("{worst_site: {accuracy: high}}", "acceptance.worst_site.accuracy"),
        ("{worst_site: {accuracy: .nan}}", "acceptance.worst_site.accuracy"),
        ("{worse_than_alone: {accuracy: -0.1}}", "greater than or equal to 0"),
        ("{worst_site: {'Dice, mean': 0.7}}", "acceptance.worst_site"),
    ],
)
def test_what_is_no_criterion_is_told(text: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(WardroundError, match="acceptance") as caught:
        read(text, tmp_path)
    assert told in str(caught.value)


def test_another_criterion_is_another_study() -> None:
    assert make_study().digest() != make_study(acceptance={"worst_site": {"accuracy": 0.7}}).digest()


@pytest.mark.parametrize(
    ("criteria", "told"),
    [
        ({"worst_site": {"acuracy": 0.5}}, "acceptance.worst_site.acuracy: is not reported"),
        ({"worse_than_alone": {"brier_skill": 0.5}}, "choose of accuracy, auprc"),
    ],
)
def test_a_criterion_on_a_figure_that_there_is_not_is_refused(criteria: dict, told: str) -> None:
    names = ("accuracy", "auprc", "brier_skill")
    with pytest.raises(WardroundError) as caught:
        check_acceptance(Acceptance.model_validate(criteria), names, names[:2])
    assert caught.value.code is Reason.METRIC_UNKNOWN
    assert told in str(caught.value)


@pytest.mark.parametrize("name", sorted(folder.name for folder in (ROOT / "jobs").iterdir() if folder.is_dir()))
def test_every_shipped_study_has_criteria_that_its_workload_reports(name: str) -> None:
    study = load_study(ROOT / "jobs" / name)
    assert study.acceptance.worst_site
    assert study.acceptance.worse_than_alone
    make_workload(study)  # refuses an unknown figure
    wrong = study.model_copy(update={"acceptance": Acceptance(worse_than_alone={"brats_brier": 0.1})})
    with pytest.raises(WardroundError, match="brats_brier"):
        make_workload(wrong)
    percent = study.model_copy(update={"acceptance": Acceptance(worst_site=dict.fromkeys(study.acceptance.names, 70))})
    with pytest.raises(WardroundError, match=r"found 70; write 0\.7 if 70 % was meant"):
        make_workload(percent)
