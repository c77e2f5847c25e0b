"""A startup kit gets the class list, no log streaming, and the site's settings with absolute paths."""

import json
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from wardround.cli.main import app
from wardround.flare.kit import install
from wardround.flare.policy import class_allow_list
from wardround.records.reasons import WardroundError
from wardround.site.config import load_site_config


@pytest.fixture
def kit(tmp_path: Path) -> Path:
    folder = tmp_path / "prod_00" / "hospital-a"
    for part in ("startup", "local"):
        (folder / part).mkdir(parents=True)
    default = {"format_version": 2, "client": {"retry_timeout": 30}, "allow_log_streaming": True}
    (folder / "local" / "resources.json.default").write_text(json.dumps(default))
    return folder


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    file = tmp_path / "site.yaml"
    file.write_text(yaml.safe_dump({"name": "hospital-a", "data": {"brain_tumor": {"folder": "images"}}}))
    return file


def test_the_command_writes_both_files_and_keeps_the_kits_own_settings(kit: Path, settings: Path) -> None:
    done = CliRunner().invoke(app, ["site", "install", str(kit), "--site", str(settings)])
    assert done.exit_code == 0, done.output
    resources = json.loads((kit / "local" / "resources.json").read_text())
    assert resources["client"] == {"retry_timeout": 30}
    assert resources["allow_log_streaming"] is False
    assert resources["class_allow_list"] == class_allow_list()
    site = yaml.safe_load((kit / "local" / "site.yaml").read_text())
    assert site["data"]["brain_tumor"]["folder"] == str(settings.parent / "images")


def test_a_server_gets_no_site_yaml(kit: Path) -> None:
    assert [file.name for file in install(kit)] == ["resources.json"]
    assert not (kit / "local" / "site.yaml").exists()


def test_another_sites_settings_and_a_folder_that_is_no_kit_are_refused(kit: Path, settings: Path) -> None:
    other = kit.rename(kit.with_name("hospital-b"))
    with pytest.raises(WardroundError, match="expected 'hospital-b'"):
        install(other, load_site_config(settings))
    with pytest.raises(WardroundError, match="not a startup kit"):
        install(settings.parent)
    assert not (other / "local" / "resources.json").exists()
