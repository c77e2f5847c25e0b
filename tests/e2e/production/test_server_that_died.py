"""A server that is killed while a job runs: what docs/operator.md says of it."""

import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from support.production import LEAD, SITES, Consortium
from wardround.records.run_lines import EndLine, read_lines

pytestmark = pytest.mark.e2e

MANY_ROUNDS = ("training.rounds=500", "evaluation.personalise_steps=5")


@dataclass
class Broken:
    """The job that ran, and its record in the server's folder."""

    job: str
    record: Path


@pytest.fixture(scope="module")
def broken(consortium: Consortium, finished: Any) -> Iterator[Broken]:
    """Killed once a round was recorded, and started again by its own script alone."""
    job = consortium.export("clinical_risk", *MANY_ROUNDS, to="jobs/endless")
    consortium.stop("server")
    consortium.start("server", watched=True)
    consortium.wait_until_connected(*SITES)
    with consortium.session(LEAD, "clinical_risk") as session:
        job_id = session.submit_job(str(job))
    folder = consortium.kit("server") / job_id
    consortium.wait_for(lambda: _rounds(folder), 120, "a round of the job")
    process = int((consortium.kit("server") / "pid.fl").read_text())
    os.kill(process, signal.SIGKILL)
    consortium.wait_for(lambda: int((consortium.kit("server") / "pid.fl").read_text()) != process, 60, "a new process")
    consortium.wait_until_connected(*SITES)
    yield Broken(job_id, next(folder.rglob("run.jsonl")))
    consortium.stop("server")
    consortium.start("server")
    consortium.wait_until_connected(*SITES)


def test_the_hospitals_connect_again_and_say_so(consortium: Consortium, broken: Broken) -> None:
    for site in SITES:  # FLARE tells of an unanswered heartbeat and not of the next good one: it takes a while
        consortium.wait_for(
            lambda site=site: (
                "connection   registered with the server since"
                in consortium.wardround("site", "status", str(consortium.kit(site)))
            ),
            120,
            f"{site} to say that it is heard again",
        )


def test_the_job_is_listed_as_running_and_neither_aborted_nor_deleted(consortium: Consortium, broken: Broken) -> None:
    with consortium.session(LEAD, "clinical_risk") as session:
        assert session.get_job_status(broken.job) == "RUNNING"
        for refused in (session.abort_job, session.delete_job):
            with pytest.raises(Exception, match=r"(?i)running"):
                refused(broken.job)
        assert session.get_job_status(broken.job) == "RUNNING"


def test_a_new_job_runs_to_its_end(consortium: Consortium, broken: Broken) -> None:
    meta = consortium.submitted_and_ended(consortium.folder / "jobs" / "clinical_risk")
    assert meta["status"] == "FINISHED:COMPLETED"


def test_the_report_reads_the_record_that_has_no_end(consortium: Consortium, broken: Broken) -> None:
    assert not any(isinstance(line, EndLine) for line in read_lines(broken.record))
    said = consortium.wardround("report", str(broken.record.parent))
    assert "the record has no end: the run was stopped" in said
    assert (broken.record.parent / "report.html").is_file()


def _rounds(folder: Path) -> bool:
    return any('"round"' in file.read_text(encoding="utf-8") for file in folder.rglob("run.jsonl"))
