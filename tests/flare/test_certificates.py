"""A kit's certificate: whose, of which root, and until when."""

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from nvflare.lighter.utils import Identity, generate_cert, generate_keys, serialize_cert, serialize_pri_key

from wardround.flare.certificates import check_certificate, read_certificate
from wardround.flare.kit import Kit

NOW = datetime(2030, 6, 1, 12, tzinfo=UTC)


class _Authority:
    def __init__(self, name: str) -> None:
        self.name = name
        self.key, public = generate_keys()
        self.certificate = generate_cert(
            Identity(name), Identity(name), self.key, public, ca=True, not_valid_before=NOW - timedelta(days=100),
            not_valid_after=NOW + timedelta(days=4000),
        )  # fmt: skip

    def issue(self, name: str, first: int, last: int) -> tuple[bytes, bytes]:
        key, public = generate_keys()
        certificate = generate_cert(
            Identity(name, "hospital_a"), Identity(self.name), self.key, public,
            not_valid_before=NOW + timedelta(days=first), not_valid_after=NOW + timedelta(days=last),
        )  # fmt: skip
        return serialize_cert(certificate), serialize_pri_key(key)


@pytest.fixture(scope="module")
def authority() -> _Authority:
    return _Authority("wardround")


def _kit(folder: Path, authority: _Authority, *, name: str = "hospital-a", first: int = -10, last: int = 300) -> Kit:
    startup = folder / "startup"
    startup.mkdir(exist_ok=True)
    certificate, key = authority.issue(name, first, last)
    (startup / "client.crt").write_bytes(certificate)
    (startup / "client.key").write_bytes(key)
    (startup / "rootCA.pem").write_bytes(serialize_cert(authority.certificate))
    return Kit(folder, "site", "hospital-a", "localhost", 8002, "http", in_docker=False)


def test_subject_root_and_days_left_are_told(tmp_path: Path, authority: _Authority) -> None:
    found = check_certificate(_kit(tmp_path, authority), NOW)
    assert (found.status, found.text) == (
        "ok",
        "hospital-a of hospital_a, root wardround, expires in 300 days (2031-03-28)",
    )
    assert read_certificate(tmp_path / "startup" / "client.crt").last == NOW + timedelta(days=300)


@pytest.mark.parametrize(
    ("first", "last", "status", "text"),
    [
        (-10, 29, "warning", "expires in 29 days (2030-06-30): renew it now"),
        (-10, -1, "failed", "hospital-a of hospital_a: expired on 2030-05-31 12:00 UTC; ask the consortium"),
        (2, 300, "failed", "not valid before 2030-06-03 12:00 UTC, and this machine's clock says 2030-06-01 12:00 UTC"),
    ],
)
def test_time_is_told_apart(
    tmp_path: Path, authority: _Authority, first: int, last: int, status: str, text: str
) -> None:
    found = check_certificate(_kit(tmp_path, authority, first=first, last=last), NOW)
    assert found.status == status
    assert text in found.text


def test_an_expired_root_is_named(tmp_path: Path, authority: _Authority) -> None:
    found = check_certificate(_kit(tmp_path, authority, last=9000), NOW + timedelta(days=5000))
    assert found.text.startswith("root wardround: expired on 2041-05-14")


def test_another_root_of_the_same_name_is_refused(tmp_path: Path, authority: _Authority) -> None:
    kit = _kit(tmp_path, authority)
    kit.root.write_bytes(serialize_cert(_Authority("wardround").certificate))
    found = check_certificate(kit, NOW)
    assert found.status == "failed"
    assert "not signed by the kit's root 'wardround'" in found.text


def test_another_sites_certificate_and_another_key_are_refused(tmp_path: Path, authority: _Authority) -> None:
    found = check_certificate(_kit(tmp_path, authority, name="hospital-b"), NOW)
    assert found.text.startswith("hospital-b of hospital_a: expected hospital-a")
    kit = _kit(tmp_path, authority)
    kit.certificate.with_suffix(".key").write_bytes(authority.issue("hospital-a", -10, 300)[1])
    assert "its private key belongs to another certificate" in check_certificate(kit, NOW).text


def test_a_damaged_or_missing_file_is_told(tmp_path: Path, authority: _Authority) -> None:
    kit = _kit(tmp_path, authority)
    kit.root.write_text("no certificate")
    assert "cannot be read" in check_certificate(kit, NOW).text
    shutil.rmtree(tmp_path / "startup")
    assert check_certificate(kit, NOW).status == "failed"
