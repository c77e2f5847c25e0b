"""What a startup kit is."""

from pathlib import Path

import pytest

from support.kits import make_kit
from wardround.flare.kit import read_kit
from wardround.records.reasons import WardroundError


@pytest.mark.parametrize(
    ("name", "kind", "role"),
    [
        ("hospital-a", "client", "site"),
        ("server", "server", "server"),
        ("lead@x.org", "admin", "admin"),
    ],
)
def test_a_kit_tells_whose_it_is_whatever_its_folder_is_called(tmp_path: Path, name: str, kind: str, role: str) -> None:
    found = read_kit(make_kit(tmp_path / "a folder", kind=kind, name=name))
    assert (found.name, found.role, found.host, found.port, found.scheme) == (name, role, "127.0.0.1", 8002, "grpc")
    assert found.certificate.is_file()
    assert not found.in_docker


def test_a_folder_that_is_no_kit_and_a_damaged_one_are_refused(tmp_path: Path) -> None:
    kit = make_kit(tmp_path / "kit")
    with pytest.raises(WardroundError, match="not a startup kit; expected a folder with startup/ and local/"):
        read_kit(tmp_path)
    (kit / "startup" / "fed_client.json").write_text('{"servers": []}')
    with pytest.raises(WardroundError, match=r"fed_client.json: damaged \(IndexError"):
        read_kit(kit)
    (kit / "startup" / "fed_client.json").unlink()
    with pytest.raises(WardroundError, match=r"expected one of fed_server.json, .* found none"):
        read_kit(kit)
