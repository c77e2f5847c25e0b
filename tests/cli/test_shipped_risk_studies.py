"""The clinical risk studies that ship, and the sites for them: valid, complete, and fitting the generator."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from wardround.cli.sites import site_files
from wardround.records.schema_faults import validated
from wardround.records.study import Study, load_study
from wardround.site.config import load_site_config
from wardround.workloads.clinical_risk.contract import Contract
from wardround.workloads.clinical_risk.settings import ClinicalRiskSettings, ClinicalRiskSiteSettings
from wardround.workloads.clinical_risk.synth.writer import write_hospitals

ROOT = Path(__file__).parents[2]
STUDIES = ("clinical_risk", "heart_disease", "readmission")


def settings_of(study: str) -> ClinicalRiskSettings:
    workload = load_study(ROOT / "jobs" / study).workload
    return ClinicalRiskSettings.model_validate({key: workload[key] for key in workload if key != "kind"})


def contract_of(study: str) -> Contract:
    return settings_of(study).contract


@pytest.fixture
def data_folder(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("WARDROUND_DATA", "/the/data")
    return "/the/data"


@pytest.mark.parametrize("study", STUDIES)
def test_job_yaml_is_valid_and_names_every_setting(study: str) -> None:
    written = yaml.safe_load((ROOT / "jobs" / study / "job.yaml").read_text())
    whole = load_study(ROOT / "jobs" / study).model_dump(mode="json")
    assert written["name"] == study
    assert written.keys() == Study.model_fields.keys()
    for section in ("algorithm", "training", "aggregation", "evaluation", "federation"):
        assert whole[section].keys() - written[section].keys() <= {"local_steps"}
    workload = {key: value for key, value in written["workload"].items() if key != "kind"}
    settings = settings_of(study).model_dump(mode="json")
    assert workload.keys() == settings.keys()
    for key in ("network", "split", "alerts"):
        assert workload[key].keys() == settings[key].keys()


@pytest.mark.parametrize("study", STUDIES)
def test_the_probabilities_error_chooses_and_each_site_may_fit_the_model(study: str) -> None:
    evaluation = load_study(ROOT / "jobs" / study).evaluation
    assert (evaluation.key_metric, evaluation.key_metric_mode) == ("brier", "min")
    assert evaluation.personalise_steps > 0
    assert evaluation.recalibrate


@pytest.mark.parametrize("study", ["heart_disease", "readmission"])
def test_sites_map_every_column_of_the_contract_to_its_values(study: str, data_folder: str) -> None:
    contract = contract_of(study)
    roles = {}
    for file in site_files(ROOT / "site_configs" / study):
        config = load_site_config(file)
        site = validated(ClinicalRiskSiteSettings, config.section("clinical_risk", study), str(file))
        roles[config.name] = config.role
        assert config.name == file.parent.name
        assert not config.synthetic
        assert site.known_at_index
        assert site.source.kind == "csv"
        assert str(site.source.file).startswith(f"{data_folder}/")
        assert list(site.columns) == list(contract.columns)
        for name, column in contract.columns.items():
            if column.type == "category":
                found = set(site.columns[name].codes.values())
                assert set(column.values) <= found <= {*column.values, "other"}, (file, name)
        assert set(site.outcome.codes.values()) == {"yes", "no"}
        assert set(site.exclusions) == {exclusion.column for exclusion in contract.exclusions}
    assert list(roles.values()).count("train") >= 4


def test_every_readmission_site_is_a_pseudo_site_with_the_same_mapping(data_folder: str) -> None:
    mappings: list[dict[str, Any]] = []
    values: list[str] = []
    for file in site_files(ROOT / "site_configs" / "readmission"):
        config = load_site_config(file)
        assert config.nature == "pseudo_site"
        section = dict(config.section("clinical_risk", "readmission"))
        values += section.pop("rows")["medical_specialty"]
        mappings.append(section)
    assert all(mapping == mappings[0] for mapping in mappings)
    assert len(set(values)) == len(values)  # no row is at two sites


def test_readmission_leaves_out_death_and_hospice(data_folder: str) -> None:
    file = site_files(ROOT / "site_configs" / "readmission")[0]
    site = validated(ClinicalRiskSiteSettings, load_site_config(file).section("clinical_risk", "readmission"), "site")
    assert set(site.exclusions["ended_in"].codes) == {"11", "13", "14", "19", "20", "21"}
    assert set(site.exclusions["ended_in"].codes.values()) == set(contract_of("readmission").exclusions[0].values)


def test_each_hospital_holds_both_generated_data_sets_as_the_generator_writes_them(tmp_path: Path) -> None:
    made = {file.parent.name: file for file in write_hospitals(tmp_path, rows=5)}
    shipped = site_files(ROOT / "site_configs")
    assert {file.parent.name for file in shipped} == made.keys()
    for file in shipped:
        ours, theirs = load_site_config(file), load_site_config(made[file.parent.name])
        assert (ours.name, ours.role, ours.synthetic) == (theirs.name, theirs.role, theirs.synthetic)
        assert "brain_tumor" in ours.data
        section = validated(ClinicalRiskSiteSettings, ours.section("clinical_risk"), str(file))
        wanted = validated(ClinicalRiskSiteSettings, theirs.section("clinical_risk"), str(file))
        assert section.source.kind == wanted.source.kind == "csv"
        assert section.source.file == ROOT / "demo" / "clinical_risk" / ours.name / "data" / "stays.csv"
        moved = section.source.model_copy(update={"file": wanted.source.file})
        assert section.model_copy(update={"source": moved}) == wanted
