"""The class list, no log streaming and site.yaml that a POC kit gets, and the project that POC kits come from."""

import json
import socket
from pathlib import Path

import pytest
import yaml

from support.kits import make_kit
from wardround.flare.poc_kits import ADMIN, install, write_project
from wardround.flare.policy import SERVER_CLASSES, SITE_CLASSES
from wardround.records.reasons import WardroundError
from wardround.site.config import SiteConfig, load_site_config


@pytest.fixture
def kit(tmp_path: Path) -> Path:
    return make_kit(tmp_path / "prod_00" / "hospital-a")


def _settings(folder: Path, name: str = "hospital-a") -> SiteConfig:
    file = folder / "site.yaml"
    file.write_text(yaml.safe_dump({"name": name, "data": {"brain_tumor": {"folder": "images"}}}))
    return load_site_config(file)


def test_a_site_gets_both_files_and_keeps_the_kits_own_settings(kit: Path, tmp_path: Path) -> None:
    written = install(kit, _settings(tmp_path))
    assert [file.name for file in written] == ["resources.json", "site.yaml"]
    resources = json.loads((kit / "local" / "resources.json").read_text())
    assert resources["client"] == {"retry_timeout": 30}
    assert resources["allow_log_streaming"] is False
    assert resources["class_allow_list"] == list(SITE_CLASSES)
    site = yaml.safe_load((kit / "local" / "site.yaml").read_text())
    assert site["data"]["brain_tumor"]["folder"] == str(tmp_path / "images")


def test_a_server_gets_no_site_yaml_and_its_own_classes(tmp_path: Path) -> None:
    (written,) = install(make_kit(tmp_path / "server", kind="server", name="server"))
    assert written.name == "resources.json"
    assert json.loads(written.read_text())["class_allow_list"] == list(SERVER_CLASSES)


def test_another_sites_settings_are_refused(kit: Path, tmp_path: Path) -> None:
    with pytest.raises(WardroundError, match="expected 'hospital-a'"):
        install(kit, _settings(tmp_path, "hospital-b"))
    assert not (kit / "local" / "resources.json").exists()


def test_a_project_has_the_sites_and_a_port_that_nobody_has(tmp_path: Path) -> None:
    write_project(tmp_path / "project.yml", [_settings(tmp_path)])
    server, site, admin = yaml.safe_load((tmp_path / "project.yml").read_text())["participants"]
    assert (site["name"], admin["name"], admin["role"]) == ("hospital-a", ADMIN, "project_admin")
    with socket.create_server(("127.0.0.1", server["fed_learn_port"])):
        pass
