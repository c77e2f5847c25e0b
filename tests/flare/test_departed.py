"""A hospital that has left: its site is disabled, its people have no right, and nobody else is touched."""

import json
import shutil
from pathlib import Path

import pytest
from nvflare.fuel.sec.authz import AuthzContext, Person
from nvflare.private.fed.server.client_manager import ClientManager
from nvflare.security.security import FLAuthorizer

from support.provisioned import CONFIGS, provision
from wardround.flare.departed import Departed, disable_clients, read_departed
from wardround.flare.install import install_folder
from wardround.records.reasons import WardroundError


@pytest.fixture
def server(tmp_path: Path) -> tuple[Path, Path]:
    kit = provision(tmp_path / "kits") / "server"
    source = Path(shutil.copytree(CONFIGS / "server", tmp_path / "server"))
    (source / "left.yaml").write_text("hospitals: [{client: hospital-c, org: hospital_c}]\n")
    return kit, source


def test_flare_refuses_a_departed_hospital_and_no_other(server: tuple[Path, Path]) -> None:
    kit, source = server
    install_folder(kit, source)
    install_folder(kit, source)
    rights = json.loads((kit / "local" / "authorization.json").read_text())
    authorizer = FLAuthorizer("consortium", rights)
    for org, role, right, allowed in [
        ("hospital_c", "org_admin", "list_jobs", False),
        ("hospital_b", "org_admin", "list_jobs", True),
        ("hospital_c", "project_admin", "submit_job", False),
        ("consortium", "project_admin", "submit_job", True),
        ("consortium", "lead", "submit_job", True),
        ("consortium", "member", "submit_job", False),
    ]:
        user = Person("someone", org, role)
        assert authorizer.authorize(AuthzContext(right=right, user=user, submitter=user))[0] is allowed, (org, right)
    manager = ClientManager()
    manager.set_disabled_clients_file(str(kit / "disabled_clients.json"))
    assert manager.is_client_disabled("hospital-c")
    assert not manager.is_client_disabled("hospital-b")


def test_clients_that_flare_disabled_stay_disabled(tmp_path: Path) -> None:
    file = tmp_path / "disabled_clients.json"
    file.write_text('{"disabled_clients": ["hospital-a"]}')
    disable_clients(tmp_path, [])
    assert json.loads(file.read_text()) == {"disabled_clients": ["hospital-a"]}
    disable_clients(tmp_path, [Departed(client="hospital-c", org="hospital_c")])
    assert json.loads(file.read_text()) == {"disabled_clients": ["hospital-a", "hospital-c"]}


def test_nobody_has_left_by_default(tmp_path: Path) -> None:
    assert read_departed(tmp_path / "left.yaml") == read_departed(CONFIGS / "server" / "left.yaml") == []
    disable_clients(tmp_path, [])
    assert not (tmp_path / "disabled_clients.json").exists()


def test_a_slip_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "left.yaml"
    file.write_text("hospitals: [{client: hospital-c}]\n")
    with pytest.raises(WardroundError, match=r"left\.yaml: hospitals\.0\.org"):
        read_departed(file)
