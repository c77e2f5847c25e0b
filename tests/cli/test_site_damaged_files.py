"""Files of a kit or a hospital's folder that are empty, cut short, of another kind, or no files: no traceback."""

import shutil
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from support.provisioned import CONFIGS
from wardround.cli.main import app
from wardround.flare import preflight
from wardround.flare.install import install_folder

UNREADABLE = (b"", b"\xff\xfe\x00", b'{"components": [', b"[" * 9999)
RESOURCES = (*UNREADABLE, b"[]", b'{"components": 3}', b'{"components": [3]}', b'{"components": [{"path": "x"}]}')
RIGHTS = (*UNREADABLE, b"{}", b'{"permissions": 3}', b'{"permissions": {"lead": 3}}')
ANSWER = b'{"time": "t", "job": "j", "task": "train", "round": %s, "metrics": %s}\n'


@pytest.fixture
def folders(kits: Path, tmp_path: Path) -> Path:
    """A hospital's kit and folder, and a server's."""
    for name in ("hospital-a", "server"):
        source = Path(shutil.copytree(CONFIGS / name, tmp_path / f"{name}-own"))
        if (file := source / "site.yaml").is_file():
            settings = yaml.safe_load(file.read_text())
            file.write_text(yaml.safe_dump({**settings, "state_folder": str(tmp_path / "state")}))
        install_folder(Path(shutil.copytree(kits / name, tmp_path / name)), source)
    (tmp_path / "state" / "run").mkdir(parents=True)
    return tmp_path


def _told(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> str:
    monkeypatch.setattr(preflight, "check_connection", lambda _kit: [])
    monkeypatch.setattr(preflight, "_check_data", lambda _config, _studies, _progress: [])
    done = CliRunner().invoke(app, ["site", *arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit), (arguments, repr(done.exception))
    return done.output


@pytest.mark.parametrize(
    ("damaged", "contents"),
    [
        ("hospital-a-own/resources.json", RESOURCES),
        ("hospital-a-own/authorization.json", RIGHTS),
        ("hospital-a-own/privacy.json", (*UNREADABLE, b"{}", b'{"scopes": 3}')),
        ("hospital-a/local/resources.json.default", RESOURCES),
        ("server-own/resources.json", RESOURCES),
        ("server-own/authorization.json", RIGHTS),
        ("server/disabled_clients.json", (*UNREADABLE, b"[]", b"{}", b'{"disabled_clients": [3]}')),
        ("server/local/resources.json.default", RESOURCES),
    ],
)
def test_what_cannot_be_installed_is_told_by_file(
    folders: Path, damaged: str, contents: tuple[bytes, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = damaged.partition("/")[0].removesuffix("-own")
    for content in contents:
        (folders / damaged).write_bytes(content)
        told = _told(monkeypatch, "install", str(folders / name), "--site", str(folders / f"{name}-own"))
        assert Path(damaged).name.removesuffix(".default") in told, content
        assert any(words in told for words in ("expected", "not readable", "should be", "missing")), told


def test_a_link_that_leads_nowhere_is_not_taken_for_a_file_that_was_left_out(
    folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = folders / "hospital-a-own" / "authorization.json"
    file.unlink()
    file.symlink_to("nowhere")
    told = _told(monkeypatch, "install", str(folders / "hospital-a"), "--site", str(folders / "hospital-a-own"))
    assert "authorization.json: No such file" in told


@pytest.mark.parametrize(
    ("damaged", "contents"),
    [
        ("local/resources.json", RESOURCES),
        ("local/authorization.json", RIGHTS),
        ("local/site.yaml", (*UNREADABLE, b"[]", b"{name: hospital-a, data: 3}", b"{name: hospital-a, data: {x: 3}}")),
        ("startup/fed_client.json", (*UNREADABLE, b"[]", b'{"servers": 3}', b'{"servers": [{"service": 3}]}')),
    ],
)
def test_a_preflight_says_failed(
    folders: Path, damaged: str, contents: tuple[bytes, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    for content in contents:
        (folders / "hospital-a" / damaged).write_bytes(content)
        told = _told(monkeypatch, "preflight", str(folders / "hospital-a"))
        assert "failed" in told or "fed_client.json: damaged" in told, content


def test_a_port_that_cannot_be_one_is_a_damaged_kit(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, kind in (("server", "server"), ("hospital-a", "client")):
        file = folders / name / "startup" / f"fed_{kind}.json"
        file.write_text(file.read_text().replace(":8002", ":80020"))
        assert "damaged (ValueError: port 80020)" in _told(monkeypatch, "preflight", str(folders / name))


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe\x00", b"[]\n3\nnull\n", ANSWER % (b'"x"', b"3"), ANSWER % (b"1", b'{"auroc": null}')]
)
def test_a_status_leaves_out_what_is_no_answer(folders: Path, content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    file = folders / "state" / "run" / "answers.jsonl"
    file.write_bytes(content + b"\n" + ANSWER % (b"1", b'{"auroc": 0.75}'))
    told = _told(monkeypatch, "status", str(folders / "hospital-a"))
    assert "auroc 0.750" in told


@pytest.mark.parametrize("content", [b"", b"\xff", b"[3]", b'{"clinical_risk": {"counts": 3}}'])
def test_a_status_leaves_out_what_is_no_inspection(
    folders: Path, content: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folders / "state" / "inspection.json").write_bytes(content)
    assert "not inspected here yet" in _told(monkeypatch, "status", str(folders / "hospital-a"))
