"""What each role may do, on the running consortium."""

import pytest

from e2e.production.conftest import Submitted
from support.production import HOSPITAL_A_ADMIN, LEAD, MEMBER, PROJECT_ADMIN, Consortium

pytestmark = pytest.mark.e2e


def test_a_member_looks_and_submits_nothing(consortium: Consortium, submitted: Submitted) -> None:
    said = consortium.console(
        MEMBER,
        "list_jobs",
        "check_status server",
        "check_status client hospital-a",
        f"submit_job {consortium.folder / 'jobs' / 'clinical_risk'}",
        f"abort_job {submitted.clinical_risk}",
        "y",
        f"download_job {submitted.clinical_risk}",
        study="clinical_risk",
    )
    assert submitted.clinical_risk in said
    assert "brain_tumor" not in said  # a session lists its own study's jobs
    assert "Registered clients: 3" in said
    for command in ("submit_job", "abort_job", "download_job"):
        assert f"user '{MEMBER}' is not authorized for '{command}'" in said
    for command in ("list_jobs", "check_status"):
        assert f"not authorized for '{command}'" not in said


@pytest.mark.parametrize("user", [PROJECT_ADMIN, LEAD, HOSPITAL_A_ADMIN, MEMBER])
def test_nobody_reads_a_file_through_a_shell_command(consortium: Consortium, user: str) -> None:
    sites = [f"{what} hospital-a log.txt" for what in ("cat", "tail", "head", "ls")]
    said = consortium.ask(user, *sites, "cat server log.txt")
    assert said.count("invalid_request") == 4, said
    assert f"user '{user}' is not authorized for 'cat'" in said
