"""The study and the sites that ship are valid, say every setting, and fit the generator."""

from pathlib import Path

import yaml

from wardround.cli.sites import site_files
from wardround.records.study import Study, load_study
from wardround.site.config import load_site_config
from wardround.workloads.brain_tumor.settings import BrainTumorSettings, BrainTumorSiteSettings
from wardround.workloads.brain_tumor.split import split_patients

ROOT = Path(__file__).parents[2]


def test_job_yaml_is_valid_and_names_every_setting() -> None:
    folder = ROOT / "jobs" / "brain_tumor"
    written = yaml.safe_load((folder / "job.yaml").read_text())
    whole = load_study(folder).model_dump(mode="json")
    assert written.keys() == Study.model_fields.keys()
    for section in ("algorithm", "training", "aggregation", "evaluation", "federation"):
        assert whole[section].keys() - written[section].keys() <= {"local_epochs"}
    workload = {key: value for key, value in written["workload"].items() if key != "kind"}
    settings = BrainTumorSettings.model_validate(workload).model_dump(mode="json")
    assert {key: section.keys() for key, section in settings.items()} == {
        key: section.keys() for key, section in workload.items()
    }


def test_three_sites_train_and_a_fourth_evaluates_on_the_demo_data() -> None:
    splits = {}
    for file in site_files(ROOT / "site_configs"):
        config = load_site_config(file)
        settings = BrainTumorSiteSettings.model_validate(config.section("brain_tumor"))
        assert settings.folder == ROOT / "demo" / "brain_tumor" / config.name / "data"
        assert config.synthetic
        assert "site_configs" not in str(config.state_folder)
        chosen = list(
            split_patients([str(i) for i in range(18 if config.role == "train" else 14)], settings.split).values()
        )
        splits[config.name] = (config.role, *(chosen.count(name) for name in ("train", "validation", "test")))
    assert splits == {
        "hospital-a": ("train", 6, 4, 8),
        "hospital-b": ("train", 6, 4, 8),
        "hospital-c": ("train", 6, 4, 8),
        "hospital-d": ("evaluate", 6, 0, 8),
    }
