"""A server that its operator changed: what FLARE's own client gives it, and what a guarded site does.

Covered: a site with the guard answers no command that reads a file, whatever role the server claims for whoever
asks, and refuses code and images in a job though the server lets them through. Not covered: what a job of listed
classes sends by its nature, weights and figures, which the disclosure gate and the privacy filters are for; nor that
such a server aborts jobs or stops sites.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from support.production import PROJECT_ADMIN, SITES, Consortium
from support.refused_jobs import Change, changed_job, with_an_image, with_code

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def tampered(consortium: Consortium, finished: Any) -> Iterator[Consortium]:
    """hospital-c has shell rights for nobody, as all have, but no guard: FLARE as it is."""
    file = consortium.settings("hospital-c") / "resources.json"
    shipped = file.read_text()
    resources = json.loads(shipped)
    resources["components"] = [one for one in resources["components"] if one["id"] != "kit_guard"]
    _restart(consortium, json.dumps(resources), module="support.tampered_server")
    yield consortium
    _restart(consortium, shipped)


def _restart(consortium: Consortium, resources: str, *, module: str | None = None) -> None:
    """The server, and hospital-c with these resources."""
    consortium.stop("hospital-c", "server")
    settings = consortium.settings("hospital-c")
    (settings / "resources.json").write_text(resources)
    consortium.wardround("site", "install", str(consortium.kit("hospital-c")), "--site", str(settings))
    consortium.start("server", module=module)
    consortium.start("hospital-c")
    consortium.wait_until_connected(*SITES)


def test_it_reads_the_key_of_a_site_without_the_guard_and_no_file_of_a_guarded_site(tampered: Consortium) -> None:
    keys = {site: tampered.kit(site) / "startup" / "client.key" for site in SITES}
    commands = [f"{command} {site} {file}" for site, file in keys.items() for command in ("cat", "tail", "head")]
    commands += [f"ls {site} {file.parent}" for site, file in keys.items()]
    commands += [f'grep {site} "PRIVATE KEY" {file}' for site, file in keys.items()]
    said = tampered.ask(PROJECT_ADMIN, *commands)
    assert {site for site in SITES if keys[site].read_text().splitlines()[1] in said} == {"hospital-c"}
    assert said.count("invalid_request") == len(commands) * 2 / 3


@pytest.mark.parametrize(("name", "change"), [("tampered_code", with_code), ("tampered_image", with_an_image)])
def test_every_hospital_refuses_code_and_images_by_itself(tampered: Consortium, name: str, change: Change) -> None:
    job = changed_job(tampered.folder / "jobs" / "clinical_risk", name, change)
    meta = tampered.submitted_and_ended(job)
    assert meta["status"] == "FINISHED:FAILED_TO_RUN"
    for site in SITES:
        assert f"{site}: NVFLARE_ERROR: BYOC not permitted" in meta["job_deploy_detail"]
