"""The shipped studies on public data and their sites, with what a benchmark changes about them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wardround.records.study import Study, load_study
from wardround.site.config import SiteConfig, load_site_config

ROOT = Path(__file__).parents[1]


def study_and_sites(name: str) -> tuple[Study, dict[str, SiteConfig]]:
    """`jobs/<name>` and its sites by name. Their files need `WARDROUND_DATA`, the folder of the public data sets."""
    files = sorted((ROOT / "site_configs" / name).glob("*/site.yaml"))
    configs = [load_site_config(file) for file in files]
    return load_study(ROOT / "jobs" / name), {config.name: config for config in configs if config.role == "train"}


def whole_table(name: str) -> tuple[Study, SiteConfig]:
    """The study with all rows of its sites' common file as one site's, none left out by site."""
    study, configs = study_and_sites(name)
    config = next(iter(configs.values()))
    key = study.name if study.name in config.data else study.workload["kind"]
    section = {entry: value for entry, value in config.section(key).items() if entry != "rows"}
    return study, _with_source(config.model_copy(update={"data": {key: section}}), config)


def changed(study: Study, *, seed: int, workload: Mapping[str, Any], **sections: Mapping[str, Any]) -> Study:
    """The study with another seed and some settings changed, validated again.

    Args:
        seed: of the initial weights and the order of batches.
        workload: keys of the workload's sections to merge, such as `{"network": {"hidden": []}}`.
        sections: keys to replace in `algorithm`, `training` and so on.
    """
    settings = study.model_dump(mode="json")
    settings["seed"] = seed
    for section, values in workload.items():
        merged = settings["workload"].get(section)
        settings["workload"][section] = {**merged, **values} if isinstance(merged, dict) else values
    for section, values in sections.items():
        settings[section] = {**settings[section], **values}
    return Study.model_validate(settings)


def _with_source(config: SiteConfig, original: SiteConfig) -> SiteConfig:
    config._source = original.source
    return config
