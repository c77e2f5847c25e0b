"""Both studies at the same time, submitted in two ways: results, reports, and audit logs."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from e2e.production.conftest import TINY, Submitted
from support.production import LEAD, MEMBER, SITES, Consortium
from support.provisioned import ROOT
from wardround.records.manifest import read_manifest
from wardround.records.run_lines import EndLine, StartLine, read_lines
from wardround.releases.candidate import candidate

pytestmark = pytest.mark.e2e


def test_both_studies_run_at_the_same_time(finished: dict[str, dict[str, Any]]) -> None:
    assert {meta["status"] for meta in finished.values()} == {"FINISHED:COMPLETED"}
    starts = {study: datetime.fromisoformat(meta["start_time"]) for study, meta in finished.items()}
    hours, minutes, seconds = finished["clinical_risk"]["duration"].split(":")
    first_ended = starts["clinical_risk"] + timedelta(hours=int(hours), minutes=int(minutes), seconds=float(seconds))
    assert starts["clinical_risk"] < starts["brain_tumor"] < first_ended


@pytest.fixture(scope="module")
def results(consortium: Consortium, submitted: Submitted, finished: dict[str, Any]) -> dict[str, Path]:
    """Each study's folder with its record, fetched by the tool that submitted it."""
    target = consortium.folder / "results"
    arguments = [submitted.brain_tumor, "-o", str(target), "--study", "brain_tumor"]
    consortium.nvflare(LEAD, "job", "download", *arguments)
    consortium.console(LEAD, f"download_job {submitted.clinical_risk}", study="clinical_risk")
    transfer = consortium.kit(LEAD) / "transfer"
    found = [*target.rglob("run.jsonl"), *transfer.rglob("run.jsonl")]
    return dict(zip(("brain_tumor", "clinical_risk"), (file.parent for file in found), strict=True))


@pytest.mark.parametrize("study", list(TINY))
def test_the_lead_makes_the_report_from_the_downloaded_result(
    consortium: Consortium, results: dict[str, Path], study: str
) -> None:
    lines = read_lines(results[study] / "run.jsonl")
    start, end = lines[0], lines[-1]
    assert isinstance(start, StartLine)
    assert [site.site for site in start.sites] == list(SITES)
    assert isinstance(end, EndLine)
    assert end.status == "complete"
    said = consortium.wardround("report", str(results[study]))
    page = (results[study] / "report.html").read_text()
    for site in SITES:
        assert site in said
        assert site in page
    assert (results[study].parent / "models" / "best.safetensors").is_file()
    manifest = read_manifest(results[study])
    assert (manifest.environment, [site.site for site in manifest.sites]) == (start.environment, list(SITES))
    assert candidate(results[study]).checkpoint.card.model_round == end.best_round


def test_the_audit_logs_say_who_did_what(consortium: Consortium, submitted: Submitted, results: Any) -> None:
    server = (consortium.kit("server") / "audit.log").read_text()
    assert f"[U:?][A:_cert_login {LEAD}]" in server  # FLARE 2.9 logs no line for a submission: sites log its deployment
    for job in vars(submitted).values():
        assert f"[U:{LEAD}][A:job_mgmt.download_job {job}]" in server
    assert f"[U:{MEMBER}][A:list_jobs" in server
    for site in SITES:
        kit = consortium.kit(site)
        assert f"[U:{LEAD}][A:train.deploy]" in (kit / "audit.log").read_text()
        for job in vars(submitted).values():
            tasks = (kit / job / "audit.log").read_text()
            for task in ("prepare", "train", "validate"):
                assert f"[J:{job}][A:{task}#" in tasks


def test_a_study_runs_in_production_by_one_command_that_ends_with_its_report(
    consortium: Consortium, finished: Any
) -> None:
    out, settings = consortium.folder / "by one command", [*TINY["clinical_risk"], "training.rounds=1"]
    overrides = [part for setting in settings for part in ("--set", setting)]
    command = ["run", str(ROOT / "jobs" / "clinical_risk"), "--env", "prod", "--kit", str(consortium.kit(LEAD))]
    consortium.wardround(*command, "--out", str(out), *overrides)
    start, end = (read_lines(out / "run.jsonl")[at] for at in (0, -1))
    assert isinstance(start, StartLine)
    assert start.environment == "prod"
    assert isinstance(end, EndLine)
    assert end.status == "complete"
    assert (out / "report.html").is_file()
    manifest = read_manifest(out)
    assert (manifest.environment, manifest.status, manifest.run) == ("prod", "complete", start.run)
    assert all(site.code for site in manifest.sites)
    assert manifest.models["best"].model_round == end.best_round
