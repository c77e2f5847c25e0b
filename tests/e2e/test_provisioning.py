"""Provisioning for real: a fourth hospital, keys that never leave their hospital, and a hospital that leaves."""

import json
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from nvflare.fuel.flare_api.flare_api import Session

from support.distributed import Consortium
from support.kits_running import REGISTERED, RunningKits, running_kits, wait_for
from support.provisioned import CONFIGS, nvflare, provision
from wardround.flare.certificates import check_certificate
from wardround.flare.connection import check_connection
from wardround.flare.install import install_folder
from wardround.flare.kit import read_kit
from wardround.flare.login import open_session
from wardround.flare.server_port import free_port

pytestmark = pytest.mark.e2e

LEAD = "lead@consortium.example"


def _content(kit: Path) -> dict[str, bytes]:
    return {str(file.relative_to(kit)): file.read_bytes() for file in sorted(kit.rglob("*")) if file.is_file()}


def _project(folder: Path, port: int) -> Path:
    project = yaml.safe_load((CONFIGS / "project.yml").read_text())
    project["participants"][0]["fed_learn_port"] = port
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "project.yml"
    file.write_text(yaml.safe_dump(project, sort_keys=False))
    return file


def _session(kit: Path) -> Session:
    """Opens one once the server takes admins."""
    return open_session(kit, timeout=30)


def test_a_fourth_hospital_leaves_the_others_kits_byte_identical(tmp_path: Path) -> None:
    project = _project(tmp_path, 8002)
    first = provision(tmp_path, project)
    before = {kit.name: _content(kit) for kit in first.iterdir()}
    (tmp_path / "hospital-d.yml").write_text("name: hospital-d\norg: hospital_d\n")
    workspace = ("-w", str(tmp_path / "kits"), "--force")
    nvflare(
        tmp_path / "home", "provision", "-p", str(project), *workspace, "--add-client", str(tmp_path / "hospital-d.yml")
    )
    second = first.with_name("prod_01")
    assert {kit.name: _content(kit) for kit in first.iterdir()} == before
    assert {kit.name: _content(kit) for kit in second.iterdir() if kit.name != "hospital-d"} == before
    newcomer = read_kit(second / "hospital-d")
    assert check_certificate(newcomer).status == "ok"
    assert newcomer.root.read_bytes() == before["hospital-a"]["startup/rootCA.pem"]
    install_folder(newcomer.folder, CONFIGS / "hospital-d")


@pytest.fixture(scope="module")
def consortium(tmp_path_factory: pytest.TempPathFactory) -> Consortium:
    return Consortium(tmp_path_factory.mktemp("parties"), free_port())


@pytest.fixture(scope="module")
def parties(consortium: Consortium) -> dict[str, Path]:
    """Name of each party to its kit, made in its own folder."""
    kits = {
        "localhost": consortium.kit_of("localhost", type="server", org="consortium"),
        "hospital-a": consortium.kit_of("hospital-a", type="client", org="hospital_a"),
        LEAD: consortium.kit_of(LEAD, type="admin", org="consortium", role="lead"),
    }
    install_folder(kits["localhost"], CONFIGS / "server")
    install_folder(kits["hospital-a"], CONFIGS / "hospital-a")
    return kits


@pytest.fixture(scope="module")
def running(parties: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningKits]:
    with running_kits(tmp_path_factory.mktemp("run")) as kits:
        kits.start(parties["localhost"])
        kits.start(parties["hospital-a"])
        wait_for(lambda: kits.says(parties["hospital-a"], REGISTERED))
        yield kits


def test_keys_never_leave_their_hospital(consortium: Consortium, parties: dict[str, Path]) -> None:
    keys = [(kit / "startup").glob("*.key") for kit in parties.values()]
    assert len({file.read_bytes() for found in keys for file in found}) == len(parties)
    for archive in consortium.folder.glob("*.zip"):
        with zipfile.ZipFile(archive) as content:
            assert content.namelist()
            assert not any(b"PRIVATE KEY" in content.read(name) for name in content.namelist())
    there = [file for file in consortium.folder.rglob("*") if file.is_file()]
    assert [file.name for file in there if b"PRIVATE KEY" in file.read_bytes()] == ["rootCA.key"]


def test_such_kits_hold_and_run(parties: dict[str, Path], running: RunningKits) -> None:
    kit = read_kit(parties["hospital-a"])
    assert check_certificate(kit).status == "ok"
    assert [one.status for one in check_connection(kit)] == ["ok", "ok"]
    session = _session(parties[LEAD])
    try:
        assert [client.name for client in session.get_system_info().client_info] == ["hospital-a"]
    finally:
        session.close()


def test_a_root_with_an_organisation_in_its_name_signs_nothing_that_holds(tmp_path: Path) -> None:
    """FLARE 2.9 puts the root's common name alone into what it issues, so `cert init --org` makes useless kits."""
    kit = Consortium(tmp_path, 8002, "--org", "consortium").kit_of("hospital-a", type="client", org="hospital_a")
    found = check_certificate(read_kit(kit))
    assert found.status == "failed"
    assert "the root was made with an organisation in its name" in found.text


def test_a_disabled_site_is_cut_off_and_stays_out(parties: dict[str, Path], running: RunningKits) -> None:
    """Last of this federation: the site is out afterwards."""
    site, server = parties["hospital-a"], parties["localhost"]
    command = ("system", "disable-client", "hospital-a", "--force", "--startup-kit", str(parties[LEAD]))
    answer = nvflare(parties[LEAD].parents[3] / "home", *command)
    assert "disabled" in answer
    wait_for(lambda: running.says(site, "client_quit"))
    assert json.loads((server / "disabled_clients.json").read_text()) == {"disabled_clients": ["hospital-a"]}
    end = len(running.output(site))
    running.start(site)
    wait_for(lambda: running.says(server, "Reject disabled client registration: hospital-a"))
    assert not running.says(site, REGISTERED, after=end)


def test_a_hospital_that_has_left_gets_in_neither_by_its_site_nor_by_its_people(tmp_path: Path) -> None:
    kits = provision(tmp_path, _project(tmp_path, free_port()))
    source = Path(shutil.copytree(CONFIGS / "server", tmp_path / "server"))
    (source / "left.yaml").write_text("hospitals: [{client: hospital-c, org: hospital_c}]\n")
    install_folder(kits / "server", source)
    for name in ("hospital-b", "hospital-c"):
        install_folder(kits / name, CONFIGS / name)
    with running_kits(tmp_path / "run") as running:
        running.start(kits / "server")
        for name in ("hospital-b", "hospital-c"):
            running.start(kits / name)
        wait_for(lambda: running.says(kits / "hospital-b", REGISTERED))
        wait_for(lambda: running.says(kits / "server", "Reject disabled client registration: hospital-c"))
        assert not running.says(kits / "hospital-c", REGISTERED)
        stays, left = (_session(kits / f"admin@{name}.example") for name in ("hospital-b", "hospital-c"))
        try:
            assert stays.list_jobs() == []
            with pytest.raises(Exception, match="not authorized"):
                left.list_jobs()
        finally:
            stays.close()
            left.close()
