"""A small clinical risk study on generated tables: what opens in a real process within seconds."""

from pathlib import Path
from typing import Any

from torch import Tensor

from wardround.learners.initial import initial_shared_entries
from wardround.records.study import Study, load_study
from wardround.site.config import SiteConfig, load_site_config
from wardround.workloads.clinical_risk.synth.writer import write_hospitals
from wardround.workloads.registry import make_workload

JOB = Path(__file__).parents[2] / "jobs" / "clinical_risk"


def risk_study(**training: Any) -> Study:
    """With BatchNorm that stays at the site, so that something is kept between rounds."""
    settings = {"rounds": 3, "local_steps": 20, "local_epochs": "null", **training}
    return load_study(
        JOB,
        (
            "algorithm.kind=fedbn",
            "workload.network.norm=batch",
            "federation.quorum=2",
            *(f"training.{key}={value}" for key, value in settings.items()),
        ),
    )


def risk_site(folder: Path) -> SiteConfig:
    """hospital-a with 150 stays."""
    return load_site_config(write_hospitals(folder, hospitals=1, rows=150, seed=2)[0])


def first_entries(study: Study) -> dict[str, Tensor]:
    """The study's initial model, without the sites' sums."""
    return initial_shared_entries(make_workload(study), study)
