from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from support.made_tables import made_frame, made_study, site_section
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.clinical_risk.contract import SplitRule
from wardround.workloads.clinical_risk.settings import ClinicalRiskSiteSettings
from wardround.workloads.clinical_risk.split_rule import site_rule
from wardround.workloads.registry import make_workload
from wardround.workloads.site_data import SiteData

DATES = {"validation_from": "2020-07-01", "test_from": "2020-10-01"}
STUDY = SplitRule(validation_fraction=0.2, test_fraction=0.3, seed=7)


def _rule(study: SplitRule, split: dict[str, Any], **changes: Any) -> SplitRule:
    return site_rule(study, ClinicalRiskSiteSettings.model_validate(site_section("x.csv", split=split, **changes)))


def _opened(folder: Path, split: dict[str, Any], study: dict[str, Any], **changes: Any) -> SiteData:
    frame = made_frame(1)
    parts = ["train", "validation", "test"]
    frame.with_columns(part=frame["person"].hash(seed=1) % 3).with_columns(
        part=frame["person"].hash(seed=1).map_elements(lambda value: parts[value % 3], return_dtype=str)
    ).write_csv(folder / "stays.csv")
    workload = make_workload(made_study(workload__split=study))
    section = site_section(folder / "stays.csv", split=split, **changes)
    return workload.open_site(section, cache=folder)


def test_what_a_site_does_not_set_is_as_in_the_study() -> None:
    assert _rule(STUDY, {}) == STUDY
    assert _rule(STUDY, {"test_fraction": 0.5}) == STUDY.model_copy(update={"test_fraction": 0.5})
    assert _rule(STUDY, {"seed": 0}) == STUDY.model_copy(update={"seed": 0})
    by_time = SplitRule.model_validate({"by": "time", **DATES})
    assert _rule(by_time, {}) == by_time


def test_all_of_a_hospitals_patients_can_be_scored(tmp_path: Path) -> None:
    rule = _rule(STUDY, {"test_fraction": 1})
    assert (rule.validation_fraction, rule.test_fraction) == (0, 1)
    counts = _opened(tmp_path, {"test_fraction": 1}, {}).counts
    assert [counts[f"{split}_cases"] for split in ("train", "validation", "test")] == [0, 0, len(made_frame(1))]


@pytest.mark.parametrize(
    ("split", "told"),
    [
        ({"test_fraction": 0.9}, "validation_fraction 0.2 of the study and test_fraction 0.9 come to more than 1"),
        ({"validation_fraction": 0.8}, "validation_fraction 0.8 and test_fraction 0.3 of the study come to more"),
        ({"validation_fraction": 0.2, "test_fraction": 1}, "validation_fraction 0.2 and test_fraction 1.0 come to"),
    ],
)
def test_fractions_that_come_to_more_than_1_are_refused(split: dict[str, float], told: str) -> None:
    with pytest.raises(WardroundError, match=f"site.yaml: split: {told}") as raised:
        _rule(STUDY, split)
    assert raised.value.code is Reason.CONFIGURATION_INVALID


@pytest.mark.parametrize("own", [{"by": "time", **DATES}, {"by": "patient"}, {"test_from": "2020-10-01"}])
def test_how_patients_are_divided_is_not_for_a_site_to_say(tmp_path: Path, own: dict[str, Any]) -> None:
    with pytest.raises(WardroundError, match="for the study to decide, alike at every hospital") as raised:
        _opened(tmp_path, own, {})
    assert raised.value.code is Reason.CONFIGURATION_INVALID
    assert str(raised.value).startswith("site.yaml: data.clinical_risk: split: ")
    assert all(f"split.{name}" in str(raised.value) for name in own)


@pytest.mark.parametrize("name", ["validation_fraction", "test_fraction", "seed"])
def test_a_study_by_time_has_no_fractions_and_no_seed(tmp_path: Path, name: str) -> None:
    by_time = {"by": "time", **DATES}
    assert _opened(tmp_path, {}, by_time).counts["test_cases"]
    with pytest.raises(ValidationError, match=f"split by time: {name} do nothing beside dates"):
        SplitRule.model_validate({**by_time, name: 0})
    with pytest.raises(WardroundError, match=f"split.{name}: does nothing, since the study splits by time"):
        _opened(tmp_path, {name: 0}, by_time)


def test_a_hospital_that_is_divided_already_has_no_use_for_a_test_fraction(tmp_path: Path) -> None:
    with pytest.raises(WardroundError, match=r"split\.test_fraction: does nothing, since split_column part says"):
        _opened(tmp_path, {"test_fraction": 0.5}, {}, split_column="part")


def test_fractions_that_a_column_leaves_no_use_for_are_remarked(tmp_path: Path) -> None:
    told = "split.seed: does nothing, since split_column part says which rows validate"
    remarks = _opened(tmp_path, {"seed": 3}, {}, split_column="part").findings.notes
    assert [remark.kind for remark in remarks if told in str(remark)] == [Reason.CONFIGURATION_INVALID]
    assert told not in str(_opened(tmp_path, {}, {}, split_column="part").findings.notes)
