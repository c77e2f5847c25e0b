"""What a startup kit is, and the class list, no log streaming and site.yaml that a POC kit gets."""

import json
from pathlib import Path

import pytest
import yaml

from wardround.flare.kit import install, read_kit
from wardround.flare.policy import class_allow_list
from wardround.records.reasons import WardroundError
from wardround.site.config import load_site_config

_SERVER = {"name": "wardround", "service": {"target": "example.org:8002", "scheme": "http"}}
_STARTUP = {
    "hospital-a": (
        "fed_client.json",
        {"servers": [{**_SERVER, "identity": "server"}], "client": {"fqsn": "hospital-a"}},
    ),
    "server": ("fed_server.json", {"servers": [{**_SERVER, "admin_server": "server"}]}),
    "lead@x.org": (
        "fed_admin.json",
        {"admin": {"username": "lead@x.org", "host": "example.org", "port": 8002, "scheme": "http"}},
    ),
}


def _kit(parent: Path, name: str) -> Path:
    folder = parent / "prod_00" / name
    for part in ("startup", "local"):
        (folder / part).mkdir(parents=True)
    file, settings = _STARTUP[name]
    (folder / "startup" / file).write_text(json.dumps(settings))
    default = {"format_version": 2, "client": {"retry_timeout": 30}, "allow_log_streaming": True}
    (folder / "local" / "resources.json.default").write_text(json.dumps(default))
    return folder


@pytest.fixture
def kit(tmp_path: Path) -> Path:
    return _kit(tmp_path, "hospital-a")


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    file = tmp_path / "site.yaml"
    file.write_text(yaml.safe_dump({"name": "hospital-a", "data": {"brain_tumor": {"folder": "images"}}}))
    return file


@pytest.mark.parametrize(("name", "role"), [("hospital-a", "site"), ("server", "server"), ("lead@x.org", "admin")])
def test_a_kit_tells_whose_it_is_whatever_its_folder_is_called(tmp_path: Path, name: str, role: str) -> None:
    found = read_kit(_kit(tmp_path, name).rename(tmp_path / "a folder"))
    assert (found.name, found.role, found.host, found.port, found.in_docker) == (name, role, "example.org", 8002, False)


def test_a_site_gets_both_files_and_keeps_the_kits_own_settings(kit: Path, settings: Path) -> None:
    written = install(kit, load_site_config(settings))
    assert [file.name for file in written] == ["resources.json", "site.yaml"]
    resources = json.loads((kit / "local" / "resources.json").read_text())
    assert resources["client"] == {"retry_timeout": 30}
    assert resources["allow_log_streaming"] is False
    assert resources["class_allow_list"] == class_allow_list()
    site = yaml.safe_load((kit / "local" / "site.yaml").read_text())
    assert site["data"]["brain_tumor"]["folder"] == str(settings.parent / "images")


def test_a_server_gets_no_site_yaml(tmp_path: Path) -> None:
    assert [file.name for file in install(_kit(tmp_path, "server"))] == ["resources.json"]


def test_another_sites_settings_are_refused(kit: Path, settings: Path) -> None:
    settings.write_text(settings.read_text().replace("hospital-a", "hospital-b"))
    with pytest.raises(WardroundError, match="expected 'hospital-a'"):
        install(kit, load_site_config(settings))
    assert not (kit / "local" / "resources.json").exists()


def test_a_folder_that_is_no_kit_and_a_damaged_one_are_refused(kit: Path, tmp_path: Path) -> None:
    with pytest.raises(WardroundError, match="not a startup kit; expected a folder with startup/ and local/"):
        read_kit(tmp_path)
    (kit / "startup" / "fed_client.json").write_text('{"servers": []}')
    with pytest.raises(WardroundError, match=r"fed_client.json: damaged \(IndexError"):
        read_kit(kit)
    (kit / "startup" / "fed_client.json").unlink()
    with pytest.raises(WardroundError, match=r"expected one of fed_server.json, .* found none"):
        read_kit(kit)
