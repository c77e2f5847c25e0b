"""A provisioned kit gets the hospital's files once and for all, and an admin's own edits are never lost."""

import json
import shutil
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from support.provisioned import CONFIGS, edit, nvflare, provision
from wardround.cli.main import app
from wardround.flare.install import install_folder
from wardround.flare.installation import changed_startup, read_installation
from wardround.records.code import IMAGE_DIGEST, code_facts
from wardround.records.reasons import Reason, WardroundError
from wardround.records.study import load_study
from wardround.site.config import SiteConfig, load_site_config
from wardround.site.consent import Consent

IMAGE = "sha256:" + "a" * 64


@pytest.fixture(scope="module")
def kits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return provision(tmp_path_factory.mktemp("a path") / "with a space")


@pytest.fixture
def kit(kits: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(kits / "hospital-a", tmp_path / "a kit"))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return Path(shutil.copytree(CONFIGS / "hospital-a", tmp_path / "own files"))


def _content(kit: Path) -> dict[str, bytes]:
    return {str(file.relative_to(kit)): file.read_bytes() for file in kit.rglob("*") if file.is_file()}


def test_the_command_makes_a_kit_ready_and_may_be_repeated(kit: Path, source: Path) -> None:
    before = _content(kit)
    command = ["site", "install", str(kit), "--site", str(source / "site.yaml")]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    after = _content(kit)
    names = ["authorization.json", "privacy.json", "resources.json", "site.yaml", "wardround.json"]
    assert sorted(after.keys() - before.keys()) == [f"local/{name}" for name in names]
    assert {name: after[name] for name in before} == before
    assert CliRunner().invoke(app, command).exit_code == 0
    assert _content(kit) == after
    resources = json.loads(after["local/resources.json"])
    own = json.loads((source / "resources.json").read_text())
    assert resources["class_allow_list"] == own["class_allow_list"]
    assert resources["allow_log_streaming"] is False
    assert {one["id"] for one in resources["components"]} >= {"resource_manager", "process_launcher"}
    assert after["local/authorization.json"].decode() == (source / "authorization.json").read_text()
    assert load_site_config(kit / "local" / "site.yaml").data == load_site_config(source / "site.yaml").data


def test_a_changed_folder_is_taken_over(kit: Path, source: Path) -> None:
    install_folder(kit, source)
    (source / "resources.json").write_text((source / "resources.json").read_text().replace('gpus": 0', 'gpus": 2'))
    install_folder(kit, source)
    resources = json.loads((kit / "local" / "resources.json").read_text())
    manager = next(one for one in resources["components"] if one["id"] == "resource_manager")
    assert manager["args"]["num_of_gpus"] == 2


def test_a_kit_of_a_build_that_wrote_empty_keys_is_good_again_once_it_is_installed_again(
    kit: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def with_nulls(config: SiteConfig) -> str:
        said = config.model_dump(mode="json", by_alias=True)
        return yaml.safe_dump(said, sort_keys=False, allow_unicode=True)

    with monkeypatch.context() as patch:
        patch.setattr("wardround.flare.installed_text.resolved_yaml", with_nulls)
        install_folder(kit, source)
    installed = kit / "local" / "site.yaml"
    with pytest.raises(WardroundError, match="training_windows: empty"):
        load_site_config(installed)
    install_folder(kit, source)
    assert load_site_config(installed).training_windows is None


def test_an_edit_in_the_kit_is_refused_with_the_difference_and_kept_where_forced(kit: Path, source: Path) -> None:
    install_folder(kit, source)
    file = kit / "local" / "privacy.json"
    edited = file.read_text().replace('"task_data_filters": []', '"task_data_filters": [1]')
    file.write_text(edited)
    before = _content(kit)
    with pytest.raises(WardroundError, match=r"privacy.json: edited in the kit") as refused:
        install_folder(kit, source)
    assert '-      "task_data_filters": [1],' in str(refused.value)
    assert _content(kit) == before
    install_folder(kit, source, force=True)
    assert (kit / "local" / "privacy.json.before-install").read_text() == edited
    assert file.read_text() == (source / "privacy.json").read_text()


def test_a_file_that_was_there_first_is_not_replaced(kit: Path, source: Path) -> None:
    (kit / "local" / "authorization.json").write_text("{}")
    with pytest.raises(WardroundError, match=r"authorization.json: edited in the kit"):
        install_folder(kit, source)
    assert not (kit / "local" / "resources.json").exists()


def test_an_edited_startup_file_is_named(kit: Path, source: Path) -> None:
    install_folder(kit, source)
    with (kit / "startup" / "fed_client.json").open("a") as stream:
        stream.write(" ")
    (kit / "startup" / "more.json").write_text("{}")
    (kit / "startup" / "start.sh").unlink()
    with pytest.raises(WardroundError, match=r"fed_client.json was edited; start.sh is missing; more.json is new"):
        install_folder(kit, source)
    install_folder(kit, source, force=True)
    installation = read_installation(kit)
    assert installation is not None
    assert changed_startup(kit, installation) == []
    assert "client.key" not in installation.startup


def test_a_damaged_record_is_told_and_forced_over(kit: Path, source: Path) -> None:
    install_folder(kit, source)
    (kit / "local" / "wardround.json").write_text("{")
    with pytest.raises(WardroundError, match="install with --force"):
        install_folder(kit, source)
    install_folder(kit, source, force=True)
    assert read_installation(kit) is not None


def test_a_server_keeps_its_jobs_in_its_own_folder(kits: Path, tmp_path: Path) -> None:
    kit = Path(shutil.copytree(kits / "server", tmp_path / "server"))
    for source in (CONFIGS / "server", None):
        install_folder(kit, source)
        text = (kit / "local" / "resources.json").read_text()
        assert str(kit / "jobs-storage") in text
        assert str(kit / "snapshot-storage") in text
        assert "/tmp/nvflare" not in text
        assert not (kit / "local" / "site.yaml").exists()
    install_folder(kit, None, workspace=Path("/srv/server"))
    assert '"/srv/server/jobs-storage"' in (kit / "local" / "resources.json").read_text()


@pytest.mark.parametrize(
    ("workspace", "told"),
    [
        ("srv/server", "--workspace srv/server: expected .* in full"),
        ("/srv/a server", "--workspace /srv/a server: .*space"),
    ],
)
def test_a_workspace_that_flare_could_not_work_in_is_refused(
    kits: Path, tmp_path: Path, workspace: str, told: str
) -> None:
    kit = Path(shutil.copytree(kits / "server", tmp_path / "server"))
    before = _content(kit)
    with pytest.raises(WardroundError, match=told):
        install_folder(kit, None, workspace=Path(workspace))
    assert _content(kit) == before


def test_other_kits_are_refused(kits: Path, kit: Path, source: Path, tmp_path: Path) -> None:
    with pytest.raises(WardroundError, match=r"name the folder with its site\.yaml"):
        install_folder(kit, None)
    with pytest.raises(WardroundError, match="name: expected 'hospital-a'"):
        install_folder(kit, CONFIGS / "hospital-b")
    with pytest.raises(WardroundError, match="an admin's kit needs nothing installed"):
        install_folder(kits / "lead@consortium.example", source)
    with pytest.raises(WardroundError, match="not a startup kit"):
        install_folder(tmp_path, source)
    (source / "privacy.json").write_text("{")
    with pytest.raises(WardroundError, match=r"privacy.json: not readable as JSON"):
        install_folder(kit, source)


def test_a_kit_for_containers_names_what_job_containers_see(
    kits: Path, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kit = tmp_path / "in docker"
    config = str(source / "docker.yaml")
    edit(source / "study_runtime.yaml", "image: wardround/tabular:0.1.0", f"image: wardround/tabular@{IMAGE}")
    edit(source / "site.yaml", "../../demo/state/hospital-a", "../state")
    nvflare(tmp_path / "home", "deploy", "prepare", str(kits / "hospital-a"), "--config", config, "--output", str(kit))
    install_folder(kit, source)
    install_folder(kit, source)
    site = yaml.safe_load((kit / "local" / "site.yaml").read_text())
    assert site["data"]["brain_tumor"]["folder"] == "/data/brain_tumor/data"
    assert site["data"]["clinical_risk"]["source"]["file"] == "/data/clinical_risk/data/stays.csv"
    runtime = yaml.safe_load((kit / "local" / "study_runtime.yaml").read_text())
    host = load_site_config(source / "site.yaml")
    assert runtime["studies"]["brain_tumor"]["datasets"]["data"]["source"] == host.data["brain_tumor"]["folder"]
    components = {one["id"]: one for one in json.loads((kit / "local" / "resources.json").read_text())["components"]}
    assert "process_launcher" not in components
    assert components["docker_launcher"]["path"].endswith("ClientDockerJobLauncher")
    assert components["resource_manager"]["args"]["ignore_host"] is True
    assert IMAGE_DIGEST not in runtime["studies"]["brain_tumor"]["env"]  # by a tag alone
    assert runtime["studies"]["clinical_risk"]["env"][IMAGE_DIGEST] == IMAGE
    _approve_and_ask(kit, source, monkeypatch)


def _approve_and_ask(kit: Path, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the kit, as its job containers are told: the approved image may, no other."""
    study = CONFIGS.parent / "jobs" / "clinical_risk"
    command = ["site", "approve", str(study), "--site", str(kit), "--person", "Dr. Vogel", "--ethics", "ETH-7"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    asked = []
    config = load_site_config(source / "site.yaml").model_copy(update={"synthetic": False})
    for image in (IMAGE, "sha256:" + "b" * 64, None):
        monkeypatch.setenv(IMAGE_DIGEST, image) if image else monkeypatch.delenv(IMAGE_DIGEST)
        code_facts.cache_clear()
        refusal = Consent(load_study(study), config).refusal()
        asked.append(refusal and refusal.reason)
    code_facts.cache_clear()
    assert asked == [None, Reason.CONSENT_CHANGED, Reason.CONSENT_CHANGED]


def test_job_containers_read_that_site_yaml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "site.yaml"
    file.write_text("name: a\nstate_folder: ${WARDROUND_STATE_FOLDER}\ndata: {x: {}}\n")
    with pytest.raises(WardroundError, match="needs the environment variable WARDROUND_STATE_FOLDER"):
        load_site_config(file)
    monkeypatch.setenv("WARDROUND_STATE_FOLDER", "/data/x/state")
    assert load_site_config(file).state_folder == Path("/data/x/state")
