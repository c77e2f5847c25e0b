"""All of a kit's checks through the command: one line each, and an exit code that tells."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import wardround
from support.provisioned import CONFIGS, ROOT, edit
from support.tls_server import tls_server
from wardround.cli.main import app
from wardround.flare.install import install_folder
from wardround.flare.server_port import free_port

GREETING = b"HTTP/1.1 426 Upgrade Required\r\n\r\n"


def _preflight(kit: Path, *more: str) -> tuple[int, dict[str, Any]]:
    done = CliRunner().invoke(app, ["site", "preflight", str(kit), "--format", "json", *more])
    assert done.stdout, done.output
    return done.exit_code, {one["name"]: one for one in json.loads(done.stdout)}


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("tables")
    done = CliRunner().invoke(app, ["synth", "clinical-risk", str(out), "--rows", "300", "--seed", "0"])
    assert done.exit_code == 0, done.output
    return out / "hospital-a"


def test_a_site_that_can_start_is_told_line_by_line(
    kits: Path, tables: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    kit = Path(shutil.copytree(kits / "hospital-a", tmp_path / "hospital-a"))
    install_folder(kit, tables)
    with tls_server(kits / "server", GREETING) as port:
        edit(kit / "startup" / "fed_client.json", "localhost:8002", f"localhost:{port}")
        install_folder(kit, tables, force=True)
        code, found = _preflight(kit, "--study", str(ROOT / "jobs" / "clinical_risk"))
        table = CliRunner().invoke(app, ["site", "preflight", str(kit)])  # jobs/ has a study for the data
    assert code == table.exit_code == 0, found
    assert list(found) == [
        "certificate", "files", "policy", "versions", "images", "path", "server", "clock", "disk", "memory",
        "shared memory", "gpu", "data for clinical_risk",
    ]  # fmt: skip
    assert "train cases" in found["data for clinical_risk"]["text"]
    assert found["versions"]["text"].startswith(f"wardround {wardround.__version__} (code ")
    lines = table.stdout.splitlines()
    assert len(lines) == len(found)
    assert lines[0].startswith(
        "ok       certificate             hospital-a of hospital_a, root wardround, expires in 35"
    )
    assert json.loads((tables / "state" / "inspection.json").read_text())["clinical_risk"]["usable"] is True


def test_a_site_that_cannot_start_is_exit_code_1(kit: Path, tmp_path: Path) -> None:
    elsewhere = Path(shutil.copytree(CONFIGS / "hospital-a", tmp_path / "configs" / "hospital-a"))
    install_folder(kit, elsewhere, force=True)  # paths start there, where no demo has left its data
    edit(kit / "startup" / "fed_client.json", "localhost:8002", f"localhost:{free_port()}")
    code, found = _preflight(kit, "--study", str(ROOT / "jobs" / "clinical_risk"))
    assert code == 1
    assert found["files"]["text"].startswith("startup/fed_client.json was edited: ask for the kit again")
    assert found["server"]["status"] == found["data for clinical_risk"]["status"] == "failed"
    assert "data_missing" in found["data for clinical_risk"]["text"]


def test_each_line_is_told_before_the_next_is_looked_for(kits: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(_installation: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("wardround.flare.preflight.check_versions", stop)
    done = CliRunner().invoke(app, ["site", "preflight", str(kits / "hospital-a")])
    assert done.stdout.startswith("ok       certificate             hospital-a of hospital_a")


def test_a_servers_kit_has_its_own_lines(kits: Path, tmp_path: Path) -> None:
    kit = Path(shutil.copytree(kits / "server", tmp_path / "a server"))
    edit(kit / "startup" / "fed_server.json", "server:8002", f"server:{free_port()}")
    code, found = _preflight(kit)
    assert code == 1
    assert found["files"]["text"].startswith("nothing installed: wardround site install")
    assert found["path"]["text"].endswith("move the kit to a path without one; then install it again")
    kit = kit.rename(tmp_path / "server")
    install_folder(kit, CONFIGS / "server")
    code, found = _preflight(kit)
    assert code == 0
    assert list(found) == ["certificate", "files", "policy", "versions", "images", "path", "port", "disk", "memory"]


def test_what_is_no_kit_is_exit_code_2(kits: Path, tmp_path: Path) -> None:
    for folder in (tmp_path, kits / "lead@consortium.example"):
        done = CliRunner().invoke(app, ["site", "preflight", str(folder)])
        assert done.exit_code == 2, done.output


def test_a_parent_without_torch_can_be_looked_at() -> None:
    code = "import sys, wardround.flare.preflight; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": str(ROOT / "custom")}).returncode == 0
