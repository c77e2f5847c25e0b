"""A consortium over mTLS: two studies at once, submitted in two ways, and what server and hospitals refuse."""

import json
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from e2e.conftest import left_over
from support.production import LEAD, MEMBER, PROJECT_ADMIN, SITES, Consortium
from support.refused_jobs import building, changed_job, in_scope, wanting_gpus, with_an_image, with_code
from wardround.flare.workspace import workspace
from wardround.records.run_lines import EndLine, StartLine, read_lines

pytestmark = pytest.mark.e2e

A_ADMIN = "admin@hospital-a.example"
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
NO_SUCH_SCOPE = "NVFLARE_ERROR: privacy scope 'open' is not allowed"


@pytest.fixture(scope="module")
def consortium() -> Iterator[Consortium]:
    with workspace() as folder:
        consortium = Consortium(folder, folder / "provisioned with a space")
        try:
            consortium.provision()
            consortium.generate_data()
            consortium.install()
            for name in ("server", *SITES):
                consortium.start(name)
            for study, settings in TINY.items():
                consortium.export(study, *settings, "training.rounds=2")
            consortium.wait_until_registered(*SITES)
            yield consortium
        finally:
            consortium.stop()
        assert left_over() == []


@dataclass
class Submitted:
    """Ids of the jobs of the two studies."""

    brain_tumor: str
    clinical_risk: str


@pytest.fixture(scope="module")
def submitted(consortium: Consortium) -> Submitted:
    """One by FLARE's command line, one by script through FLARE's console; neither waits for its end."""
    jobs = consortium.folder / "jobs"
    said = consortium.console(LEAD, f"submit_job {jobs / 'clinical_risk'}", study="clinical_risk")
    answer = consortium.nvflare(LEAD, "job", "submit", "-j", str(jobs / "brain_tumor"), "--study", "brain_tumor")
    return Submitted(answer["data"]["job_id"], said.split("Submitted job: ")[1].split()[0])


@pytest.fixture(scope="module")
def finished(consortium: Consortium, submitted: Submitted) -> dict[str, dict[str, Any]]:
    """What the server says of each study's job after its end."""
    return {study: consortium.ended(job, study) for study, job in vars(submitted).items()}


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


@pytest.mark.parametrize("user", [PROJECT_ADMIN, LEAD, A_ADMIN, MEMBER])
def test_nobody_reads_a_file_through_a_shell_command(consortium: Consortium, user: str) -> None:
    sites = [f"{what} hospital-a log.txt" for what in ("cat", "tail", "head", "ls")]
    said = consortium.ask(user, *sites, "cat server log.txt")
    assert said.count("invalid_request") == 4, said
    assert f"user '{user}' is not authorized for 'cat'" in said


@pytest.mark.parametrize(
    ("change", "name", "refusal"),
    [
        (with_code, "with_code", ["server: BYOC not permitted"]),
        (with_an_image, "with_an_image", ["server: BYOC not permitted"]),
        (in_scope("open"), "in_scope", [f"{site}: {NO_SUCH_SCOPE}" for site in SITES]),
    ],
)
def test_a_job_with_code_an_image_or_a_foreign_scope_is_refused(
    consortium: Consortium, change: Any, name: str, refusal: list[str]
) -> None:
    meta = consortium.submitted_and_ended(changed_job(consortium.folder / "jobs" / "clinical_risk", name, change))
    assert meta["status"] == "FINISHED:FAILED_TO_RUN"
    assert set(refusal) <= set(meta["job_deploy_detail"])


def test_a_job_for_more_gpus_than_there_are_is_kept_and_says_why(consortium: Consortium) -> None:
    job = changed_job(consortium.folder / "jobs" / "clinical_risk", "wanting_gpus", wanting_gpus(2))
    with consortium.session(LEAD, "clinical_risk") as session:
        job_id = session.submit_job(str(job))
        consortium.wait_for(lambda: session.get_job_meta(job_id).get("schedule_history"), 60, "schedule")
        meta = session.get_job_meta(job_id)
        session.delete_job(job_id)
    assert meta["status"] == "SUBMITTED"
    assert "not enough sites have enough resources (ok sites 0 < min sites 3)" in meta["schedule_history"][0]


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


def test_a_class_or_function_that_no_site_lists_is_not_built(consortium: Consortium, finished: Any) -> None:
    victim = consortium.folder / "victim"
    victim.mkdir()
    classes = {
        "hospital-a": ("wardround.flare.workspace.shutil.rmtree", {"path": str(victim)}),  # what our module imports
        "hospital-b": ("subprocess.Popen", {"args": ["rmdir", str(victim)]}),
        "hospital-c": ("nvflare.app_common.executors.client_api_executor.ClientAPIExecutor", {}),
    }
    job = changed_job(consortium.folder / "jobs" / "clinical_risk", "unlisted", building(classes))
    assert consortium.submitted_and_ended(job)["status"] != "FINISHED:COMPLETED"
    assert victim.is_dir()
    for site, (path, _) in classes.items():
        assert f"Component '{path}' at config path 'components.#2' is not in allow_list" in consortium.said(site)


def test_an_org_admin_submits_nothing_and_stops_no_other_site(consortium: Consortium, finished: Any) -> None:
    commands = [f"{what} {target}" for target in ("client hospital-b", "server") for what in ("shutdown", "restart")]
    job = consortium.folder / "jobs" / "clinical_risk"
    answers = consortium.ask(A_ADMIN, *commands, "shutdown all", f"submit_job {job}").splitlines()
    for command, answer in zip([*commands, "shutdown all", "submit_job"], answers, strict=True):
        assert f"user '{A_ADMIN}' is not authorized for '{command.split()[0]}'" in answer, command
    assert consortium.connected() == set(SITES)


def test_an_org_admin_stops_its_own_site_which_starts_with_its_own_unedited_kit_alone(
    consortium: Consortium, finished: Any
) -> None:
    assert "Shutdown the client" in consortium.console(A_ADMIN, "shutdown client hospital-a", A_ADMIN)
    consortium.wait_for(lambda: not consortium.runs("hospital-a"), 60, "hospital-a stops")
    assert consortium.runs("hospital-b")
    assert consortium.connected() == {"hospital-b", "hospital-c"}

    startup = consortium.kit("hospital-a") / "startup" / "fed_client.json"
    as_sent = startup.read_bytes()
    startup.write_bytes(as_sent.replace(b"localhost", b"127.0.0.1"))
    assert "fed_client.json" in consortium.wardround("site", "preflight", str(consortium.kit("hospital-a")), code=1)
    consortium.start("hospital-a")
    consortium.wait_for(lambda: not consortium.runs("hospital-a"), 60, "an edited kit ends")
    assert "not as it was when the kit was installed: fed_client.json was edited" in consortium.said("hospital-a")
    startup.write_bytes(as_sent)

    stranger = Consortium(consortium.folder / "strangers", consortium.folder / "strangers" / "provisioned")
    stranger.port = consortium.port
    try:
        stranger.provision()
        stranger.install("hospital-a")
        assert "another root" in stranger.wardround("site", "preflight", str(stranger.kit("hospital-a")), code=1)
        stranger.start("hospital-a")
        consortium.wait_for(lambda: "CERTIFICATE_VERIFY_FAILED" in stranger.said("hospital-a"), 90, "another root")
        assert consortium.connected() == {"hospital-b", "hospital-c"}
    finally:
        stranger.stop()

    consortium.start("hospital-a")
    consortium.wait_until_registered("hospital-a", times=2)
    assert consortium.connected() == set(SITES)


def test_a_tampered_server_reads_no_file_of_a_site_and_sends_it_no_code(consortium: Consortium, finished: Any) -> None:
    """hospital-c runs as FLARE's own defaults have it, but with shell rights for nobody, and gives its key away."""
    file = consortium.settings("hospital-c") / "resources.json"
    resources = json.loads(file.read_text())
    resources["components"] = [one for one in resources["components"] if one["id"] != "kit_guard"]
    file.write_text(json.dumps(resources))
    consortium.wardround("site", "install", str(consortium.kit("hospital-c")), "--site", str(file.parent))
    consortium.stop("hospital-c", "server")
    consortium.start("server", module="support.tampered_server")
    consortium.start("hospital-c")
    consortium.wait_for(lambda: consortium.connected() == set(SITES), 120, "all are back")

    secrets = {site: consortium.kit(site) / "startup" / "client.key" for site in SITES}
    commands = [f"{command} {site} {file}" for site, file in secrets.items() for command in ("cat", "tail", "head")]
    listing = [f"ls {site} {file.parent}" for site, file in secrets.items()]
    search = [f'grep {site} "PRIVATE KEY" {file}' for site, file in secrets.items()]
    said = consortium.console(PROJECT_ADMIN, *commands, *listing, *search)
    text = {site: file.read_text().splitlines()[1] for site, file in secrets.items()}
    assert {site for site in SITES if text[site] in said} == {"hospital-c"}
    assert said.count("invalid_request") == 10

    for name, change in (("tampered_code", with_code), ("tampered_image", with_an_image)):
        meta = consortium.submitted_and_ended(changed_job(consortium.folder / "jobs" / "clinical_risk", name, change))
        assert meta["status"] == "FINISHED:FAILED_TO_RUN"
        for site in SITES:
            assert f"{site}: NVFLARE_ERROR: BYOC not permitted" in meta["job_deploy_detail"]


def test_a_server_whose_port_is_taken_says_so_and_serves_once_it_is_free(consortium: Consortium, finished: Any) -> None:
    consortium.stop("server")
    before = len(consortium.said("server"))
    with socket.create_server(("", consortium.port)):
        consortium.start("server")
        consortium.wait_for(lambda: "address already in use" in consortium.said("server")[before:], 60, "port taken")
        assert str(consortium.port) in consortium.said("server")[before:]
    consortium.wait_for(lambda: consortium.connected() == set(SITES), 120, "all are back")
