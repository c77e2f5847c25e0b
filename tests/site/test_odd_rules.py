from pathlib import Path
from typing import Any

import pytest
import yaml

from support.made_tables import made_study
from wardround.records.inspection import Severity
from wardround.site.config import SiteConfig, load_site_config
from wardround.site.odd_rules import odd_rules

COUNTS = {"train_patients": 30}


@pytest.fixture
def ruled(tmp_path: Path):
    def ruled(**disclosure: Any) -> SiteConfig:
        file = tmp_path / "site.yaml"
        file.write_text(yaml.safe_dump({"name": "a", "data": {"clinical_risk": {}}, "disclosure": disclosure}))
        return load_site_config(file)

    return ruled


def test_a_name_that_lets_nothing_leave_is_a_warning_with_what_was_meant(ruled) -> None:
    (found,) = odd_rules(made_study(), ruled(allowed=["aurco"]), COUNTS)
    assert found.severity is Severity.WARNING
    assert found.where.key == "disclosure.allowed"
    assert "all of them are held back" in found.found
    assert found.advice == "did you mean auroc?"


def test_a_name_beside_others_is_a_note_as_another_study_may_have_it(ruled) -> None:
    (found,) = odd_rules(made_study(), ruled(allowed=["auroc", "dice"]), COUNTS)
    assert found.severity is Severity.NOTE
    assert "'dice'" in found.found


@pytest.mark.parametrize(
    "name", ["auroc", "brier", "cohorts", "alerts", "score_bins", "score", "column", "column_age", "inputs"]
)
def test_names_and_beginnings_of_figures_and_sums_are_known(ruled, name: str) -> None:
    assert odd_rules(made_study(), ruled(allowed=[name]), COUNTS) == []


@pytest.mark.parametrize(("step", "odd"), [(1, False), (10, False), (50, False), (60, True), (1000, True)])
def test_a_step_that_doubles_the_sites_weight_is_told(ruled, step: int, odd: bool) -> None:
    found = odd_rules(made_study(), ruled(count_step=step), COUNTS)
    assert [one.where.key for one in found] == ["disclosure.count_step"] * odd
