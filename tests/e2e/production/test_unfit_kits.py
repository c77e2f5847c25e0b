"""A site that its own admin stops, and that comes back with its own unedited, valid kit alone."""

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization

from support.production import HOSPITAL_A_ADMIN, SITES, Consortium

pytestmark = pytest.mark.e2e

SITE, OTHERS = SITES[0], SITES[1:]
LAST_WORDS = "registered aux handler for topic ObjectStreamer.Abort"  # of FLARE's client, before it connects


def test_an_org_admin_submits_nothing_and_stops_no_other_site(consortium: Consortium, finished: Any) -> None:
    commands = [f"{what} {target}" for target in ("client hospital-b", "server") for what in ("shutdown", "restart")]
    job = consortium.folder / "jobs" / "clinical_risk"
    answers = consortium.ask(HOSPITAL_A_ADMIN, *commands, "shutdown all", f"submit_job {job}").splitlines()
    for command, answer in zip([*commands, "shutdown all", "submit_job"], answers, strict=True):
        assert f"user '{HOSPITAL_A_ADMIN}' is not authorized for '{command.split()[0]}'" in answer, command
    assert consortium.connected() == set(SITES)


@pytest.fixture(scope="module")
def stopped(consortium: Consortium, finished: Any) -> Iterator[Consortium]:
    """The site's own admin stops it by script, in a session without a study; at the end it runs as before."""
    assert "Shutdown the client" in consortium.console(HOSPITAL_A_ADMIN, f"shutdown client {SITE}", HOSPITAL_A_ADMIN)
    consortium.wait_for(lambda: not consortium.runs(SITE), 60, f"{SITE} stops")
    consortium.wait_until_connected(*OTHERS)
    yield consortium
    consortium.start(SITE)
    consortium.wait_until_connected(*SITES)


@pytest.fixture
def startup(stopped: Consortium) -> Iterator[Path]:
    """The site's startup folder, put back as it was sent."""
    folder = stopped.kit(SITE) / "startup"
    as_sent = {file: file.read_bytes() for file in folder.iterdir()}
    yield folder
    stopped.stop(SITE)
    for file, content in as_sent.items():
        file.write_bytes(content)
    _install(stopped, "--force")


def test_an_edited_kit_is_named_and_does_not_start(stopped: Consortium, startup: Path) -> None:
    file = startup / "fed_client.json"
    file.write_bytes(file.read_bytes().replace(b"localhost", b"127.0.0.1"))
    assert "fed_client.json" in stopped.wardround("site", "preflight", str(stopped.kit(SITE)), code=1)
    stopped.start(SITE)
    stopped.wait_for(lambda: not stopped.runs(SITE), 60, "an edited kit ends")
    assert "not as it was when the kit was installed: fed_client.json was edited" in stopped.said(SITE)


def test_a_kit_of_another_root_is_named_and_not_let_in(stopped: Consortium) -> None:
    stranger = Consortium(stopped.folder / "strangers", stopped.folder / "strangers" / "provisioned")
    stranger.port = stopped.port
    try:
        stranger.provision()
        stranger.install(SITE)
        assert "another root" in stranger.wardround("site", "preflight", str(stranger.kit(SITE)), code=1)
        stranger.start(SITE)
        stopped.wait_for(lambda: "CERTIFICATE_VERIFY_FAILED" in stranger.said(SITE), 90, "another root")
        assert stopped.connected() == set(OTHERS)
    finally:
        stranger.stop()


def test_an_expired_certificate_is_named_and_not_let_in(stopped: Consortium, startup: Path) -> None:
    _expire(startup / "client.crt", stopped.provisioned_in / "kits" / "wardround" / "state" / "cert.json")
    _install(stopped, "--force")
    assert "expired on" in stopped.wardround("site", "preflight", str(stopped.kit(SITE)), code=1)
    before = len(stopped.said(SITE))
    stopped.start(SITE)
    stopped.wait_for(lambda: LAST_WORDS in stopped.said(SITE)[before:], 90, "FLARE's client waits without a word")
    time.sleep(8)  # a valid certificate registers within three seconds of these words
    assert stopped.connected() == set(OTHERS)
    assert "Successfully registered" not in stopped.said(SITE)[before:]


def _install(consortium: Consortium, *options: str) -> None:
    consortium.wardround(
        "site", "install", str(consortium.kit(SITE)), "--site", str(consortium.settings(SITE)), *options
    )


def _expire(file: Path, authority: Path) -> None:
    """The same certificate, signed by the same authority, up to yesterday."""
    state = json.loads(authority.read_text())
    root = x509.load_pem_x509_certificate(state["root_cert"].encode())
    key: Any = serialization.load_pem_private_key(state["root_pri_key"].encode(), None)
    old = x509.load_pem_x509_certificate(file.read_bytes())
    today = datetime.now(UTC)
    builder = x509.CertificateBuilder(root.subject, old.subject, old.public_key(), old.serial_number)
    builder = builder.not_valid_before(today - timedelta(days=9)).not_valid_after(today - timedelta(days=1))
    for extension in old.extensions:
        builder = builder.add_extension(extension.value, extension.critical)
    file.write_bytes(builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
