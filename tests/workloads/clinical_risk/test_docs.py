"""What docs/tables.md shows can be loaded as it stands."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import TypeAdapter

from support.made_tables import made_study
from wardround.records.reasons import Reason, WardroundError
from wardround.records.study import load_study
from wardround.site.config import load_site_config
from wardround.site.open_site import open_site
from wardround.workloads.clinical_risk.contract import Contract, SiteSplit, SplitRule
from wardround.workloads.clinical_risk.settings import ClinicalRiskSiteSettings, Source
from wardround.workloads.clinical_risk.table import read_table
from wardround.workloads.registry import make_workload

PAGE = (Path(__file__).parents[3] / "docs" / "tables.md").read_text(encoding="utf-8")
BLOCKS: list[dict[str, Any]] = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)]
STAYS = """PatNr;FallNr;Entlassung;Alter;Krea;Krea_Zeit;Geschlecht;Aufnahme;Wiederaufnahme;Entlassart
1;10;2024-05-31;70,5;1,0;2024-05-30;w;N;0;01
1;11;2024-07-31;71;0,8;2024-08-01;w;E;1;01
2;12;2024-06-01;66;-1;2024-05-30;m;D;0;07
3;13;2024-06-01;66;-1;2024-05-30;m;D;0;01
"""


def _with(key: str) -> list[dict[str, Any]]:
    return [block for block in BLOCKS if key in block]


def test_every_block_is_of_a_kind_that_is_loaded_here() -> None:
    assert {key: len(_with(key)) for key in ("rows_per_patient", "data", "source", "split")} == {
        "rows_per_patient": 1,
        "data": 2,
        "source": 3,
        "split": 2,
    }
    assert len(BLOCKS) == 9


def test_the_contract_and_the_site_read_a_table(tmp_path: Path) -> None:
    contract = Contract.model_validate(_with("rows_per_patient")[0])
    (tmp_path / "site.yaml").write_text(yaml.safe_dump(_with("data")[0]), encoding="utf-8")
    (tmp_path / "stays.csv").write_text(STAYS, encoding="cp1252")
    section = load_site_config(tmp_path / "site.yaml").section("clinical_risk")
    table = read_table(contract, ClinicalRiskSiteSettings.model_validate(section))
    assert table.row_ids == ["10", "11", "13"]
    assert table.frame["creatinine"].to_list() == [pytest.approx(88.42), None, None]
    assert table.frame["admission_type"].to_list() == ["emergency", "elective", "urgent"]
    assert len(table.findings.errors) == 1  # the value of a day after discharge


def test_the_smallest_job_is_a_study(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(yaml.safe_dump(_with("workload")[0]))
    (tmp_path / "contract.yaml").write_text(yaml.safe_dump(_with("rows_per_patient")[0], sort_keys=False))
    study = load_study(tmp_path)
    assert study.evaluation.key_metric in make_workload(study).metric_names()


def test_a_study_with_another_contract_than_the_agreed_one_is_refused(tmp_path: Path) -> None:
    agreed = _with("rows_per_patient")[0]
    (tmp_path / "site.yaml").write_text(yaml.safe_dump(_with("data")[0]), encoding="utf-8")
    (tmp_path / "stays.csv").write_text(STAYS, encoding="cp1252")
    (tmp_path / "agreed.yaml").write_text(yaml.safe_dump(agreed, sort_keys=False), encoding="utf-8")
    config = load_site_config(tmp_path / "site.yaml")
    assert open_site(made_study(workload__contract=agreed), config).data.counts["train_cases"]
    other = {**agreed, "outcome": {**agreed["outcome"], "horizon_days": 90}}
    with pytest.raises(WardroundError, match=r"agreed\.yaml: is another contract than the study's") as raised:
        open_site(made_study(workload__contract=other), config)
    assert raised.value.code is Reason.CONTRACT_MISMATCH


@pytest.mark.parametrize("block", _with("source"))
def test_sources(block: dict[str, Any]) -> None:
    assert TypeAdapter(Source).validate_python(block["source"]).kind == block["source"]["kind"]


@pytest.mark.parametrize("block", _with("split"))
def test_splits(block: dict[str, Any]) -> None:
    assert SplitRule.model_validate(block["split"]).by == block["split"]["by"]


def test_a_hospital_that_is_only_scored() -> None:
    split = SiteSplit.model_validate(_with("data")[1]["data"]["clinical_risk"]["split"])
    assert split == SiteSplit(test_fraction=1)
