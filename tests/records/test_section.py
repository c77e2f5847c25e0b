from collections.abc import Iterator
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

from support.small_tables import SITE
from wardround.records.acceptance import Acceptance
from wardround.records.disclosure import Disclosure
from wardround.records.reasons import WardroundError
from wardround.records.schema_faults import validated
from wardround.records.section import Section
from wardround.records.study import Study
from wardround.records.yaml_text import yaml_value
from wardround.site.config import SiteConfig
from wardround.site.windows import TrainingWindows
from wardround.workloads.brain_tumor.settings import BrainTumorSettings, BrainTumorSiteSettings
from wardround.workloads.clinical_risk.settings import ClinicalRiskSettings, ClinicalRiskSiteSettings

WRITTEN = (
    SiteConfig,
    Study,
    BrainTumorSettings,
    BrainTumorSiteSettings,
    ClinicalRiskSettings,
    ClinicalRiskSiteSettings,
)


class _Some(Section):
    count: int | None = None
    share: float = 0.5
    triple: tuple[int, int] = (1, 1)
    codes: tuple[str | float, ...] = ()
    choice: Literal[1, 2] = 1
    switch: bool = False
    switch_or_number: bool | int = 0
    anything: Any = None
    parts: tuple[Disclosure, ...] = ()
    start: int = Field(0, alias="from")


class _Outer(Section):
    acceptance: Acceptance = Acceptance()


@pytest.mark.parametrize("word", ["yes", "true", "on", "no"])
@pytest.mark.parametrize("key", ["minimum_patients", "minimum_cell", "significant_digits", "count_step"])
def test_truth_value_is_no_number_of_patients_or_digits(key: str, word: str) -> None:
    with pytest.raises(WardroundError, match=rf"site\.yaml: {key}: expected a number; YAML reads yes"):
        validated(Disclosure, yaml_value(f"{key}: {word}", "site.yaml"), "site.yaml")


@pytest.mark.parametrize(
    ("model", "key", "others"),
    [
        (Disclosure, "allowed", {}),
        (SiteConfig, "training_windows", {"name": "a", "data": {"fake": {}}}),
        (TrainingWindows, "device_hours_a_day", {"time_zone": "Europe/Berlin", "weekly": [{"from": "20:00"}]}),
        (BrainTumorSiteSettings, "opt_out_file", {"folder": "data", "layout": "msd", "labels": "msd"}),
        (ClinicalRiskSiteSettings, "opt_out_file", SITE | {"source": {"kind": "csv", "file": "table.csv"}}),
    ],
)
def test_a_limit_without_a_value_is_not_taken_for_none(
    model: type[BaseModel], key: str, others: dict[str, Any]
) -> None:
    assert getattr(validated(model, others, "site.yaml"), key) is None
    with pytest.raises(WardroundError, match=rf"^site\.yaml: {key}: empty, which would switch it off; fill it in"):
        validated(model, {**others, key: None}, "site.yaml")


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("count", True, "count: expected a number"),
        ("share", False, "share: expected a number"),
        ("triple", [1, True], "triple.1: expected a number"),
        ("codes", ["NA", True], "codes.1: expected a number, or a text in quotes"),
        ("choice", True, "choice: expected a number"),
        ("from", True, "from: expected a number"),
    ],
)
def test_truth_value_is_refused_wherever_a_number_stands(key: str, value: Any, told: str) -> None:
    with pytest.raises(WardroundError, match=rf"^some\.yaml: {told}; YAML reads .*\(found (True|False)\)$"):
        validated(_Some, {key: value}, "some.yaml")


def test_truth_value_in_a_section_is_told_by_its_whole_key() -> None:
    with pytest.raises(WardroundError, match=r"acceptance\.worst_site\.brier_skill: expected a number"):
        validated(_Outer, {"acceptance": {"worst_site": {"brier_skill": True}}}, "job.yaml")


def test_truth_values_stay_where_they_belong() -> None:
    some = _Some(switch=True, switch_or_number=True, anything=True, count=3, parts=(Disclosure(),))
    assert (some.switch, some.switch_or_number, some.anything, some.count) == (True, True, True, 3)


def test_numbers_and_texts_of_numbers_are_taken() -> None:
    assert validated(_Some, {"count": "3", "share": 1, "codes": ["NA", 9]}, "some.yaml").count == 3


def test_all_models_of_written_settings_are_sections() -> None:
    models = set(_models(WRITTEN))
    assert len(models) > 20
    assert [model.__name__ for model in models if not issubclass(model, Section)] == []


def _models(kinds: Any) -> Iterator[type[BaseModel]]:
    for kind in kinds:
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield kind
            yield from _models(field.annotation for field in kind.model_fields.values())
        else:
            yield from _models(getattr(kind, "__args__", ()))
