"""A site that its own admin stops, and that comes back with its own unedited kit alone."""

from typing import Any

import pytest

from support.production import HOSPITAL_A_ADMIN, SITES, Consortium

pytestmark = pytest.mark.e2e


def test_an_org_admin_submits_nothing_and_stops_no_other_site(consortium: Consortium, finished: Any) -> None:
    commands = [f"{what} {target}" for target in ("client hospital-b", "server") for what in ("shutdown", "restart")]
    job = consortium.folder / "jobs" / "clinical_risk"
    answers = consortium.ask(HOSPITAL_A_ADMIN, *commands, "shutdown all", f"submit_job {job}").splitlines()
    for command, answer in zip([*commands, "shutdown all", "submit_job"], answers, strict=True):
        assert f"user '{HOSPITAL_A_ADMIN}' is not authorized for '{command.split()[0]}'" in answer, command
    assert consortium.connected() == set(SITES)


def test_an_org_admin_stops_its_own_site_which_starts_with_its_own_unedited_kit_alone(
    consortium: Consortium, finished: Any
) -> None:
    assert "Shutdown the client" in consortium.console(HOSPITAL_A_ADMIN, "shutdown client hospital-a", HOSPITAL_A_ADMIN)
    consortium.wait_for(lambda: not consortium.runs("hospital-a"), 60, "hospital-a stops")
    consortium.wait_until_connected("hospital-b", "hospital-c")

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
    consortium.wait_until_connected(*SITES)
