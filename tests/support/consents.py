"""A hospital's decisions, for tests of what comes after them."""

from pathlib import Path

from wardround.records.consent import Approval, Revocation
from wardround.records.study import Study
from wardround.site.consent import subject_of
from wardround.site.consent_file import ConsentFile


def approval(study: Study, **changes: object) -> Approval:
    """Of a study as it is, with this process' own code."""
    facts = {
        "time": "2030-01-01T09:00:00+00:00",
        "person": "Dr. Vogel",
        "ethics_reference": "ETH-7",
        "contract_sha256": "0" * 64,
        "subject": subject_of(study),
    }
    return Approval.model_validate({**facts, **changes})


def revocation() -> Revocation:
    """By the same person, a day later."""
    return Revocation(time="2030-01-02T09:00:00+00:00", person="Dr. Vogel", why="end of the study")


def approve(study: Study, state_folder: Path) -> None:
    """Records it at a site."""
    ConsentFile(state_folder, study.name).add(approval(study))
