"""The consortium, and both studies submitted to it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from e2e.conftest import left_over
from support.production import LEAD, SITES, Consortium
from wardround.flare.workspace import workspace

BEHIND_A_LINK = "hospital-c"

TINY = {
    "brain_tumor": [
        "workload.network.channels=[4,8]",
        "workload.network.strides=[2]",
        "workload.patch.size=[16,16,16]",
        "training.local_steps=2",
        "evaluation.personalise_steps=2",
    ],
    "clinical_risk": ["evaluation.personalise_steps=5"],
}


@pytest.fixture(scope="package")
def consortium() -> Iterator[Consortium]:
    with workspace() as folder:
        consortium = Consortium(folder, folder / "provisioned with a space")
        try:
            consortium.provision(behind_a_link=BEHIND_A_LINK)
            consortium.generate_data()
            consortium.install()
            for name in ("server", *SITES):
                consortium.start(name)
            for study, settings in TINY.items():
                consortium.export(study, *settings, "training.rounds=2")
            consortium.wait_until_connected(*SITES)
            yield consortium
        finally:
            consortium.stop()
        assert left_over() == []


@dataclass
class Submitted:
    """Ids of the jobs of the two studies."""

    brain_tumor: str
    clinical_risk: str


@pytest.fixture(scope="package")
def submitted(consortium: Consortium) -> Submitted:
    """One by FLARE's command line, one by script through FLARE's console; neither waits for its end."""
    jobs = consortium.folder / "jobs"
    said = consortium.console(LEAD, f"submit_job {jobs / 'clinical_risk'}", study="clinical_risk")
    answer = consortium.nvflare(LEAD, "job", "submit", "-j", str(jobs / "brain_tumor"), "--study", "brain_tumor")
    return Submitted(answer["data"]["job_id"], said.split("Submitted job: ")[1].split()[0])


@pytest.fixture(scope="package")
def finished(consortium: Consortium, submitted: Submitted) -> dict[str, dict[str, Any]]:
    """What the server says of each study's job after its end."""
    return {study: consortium.ended(job, study) for study, job in vars(submitted).items()}
