"""The standing process of a kit: which command it is, when it starts again, and what is refused."""

import os
import sys
from pathlib import Path

import pytest

from support.kits import make_kit
from wardround.flare import parent
from wardround.records.reasons import WardroundError


def test_a_hospital_is_started_under_the_name_and_organisation_of_its_certificate(tmp_path: Path) -> None:
    kit = make_kit(tmp_path / "kit", name="hospital-b")
    assert parent.command_of(kit) == [
        *[sys.executable, "-u", "-m", parent.CLIENT_MODULE, "-m", str(kit), "-s", "fed_client.json", "--set"],
        *["secure_train=true", "uid=hospital-b", "org=hospital_b", "config_folder=config"],
    ]


def test_a_server_has_no_uid(tmp_path: Path) -> None:
    command = parent.command_of(make_kit(tmp_path / "kit", kind="server", name="server"))
    assert parent.SERVER_MODULE in command
    assert "fed_server.json" in command
    assert not any(word.startswith("uid=") for word in command)


def test_a_folder_that_is_no_kit_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(WardroundError, match=r"not a startup kit.*fed_server\.json or startup/fed_client\.json"):
        parent.command_of(tmp_path)


def test_a_certificate_that_cannot_be_read_is_refused_by_name(tmp_path: Path) -> None:
    kit = make_kit(tmp_path / "kit")
    (kit / "startup" / "client.crt").write_text("edited", encoding="utf-8")
    with pytest.raises(WardroundError, match=r"client\.crt: expected a certificate"):
        parent.command_of(kit)


def test_a_user_that_may_not_write_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kit = make_kit(tmp_path / "kit")
    monkeypatch.setattr(os, "access", lambda *_arguments: False)
    with pytest.raises(WardroundError, match="may not write to the kit's folder"):
        parent.command_of(kit)


# counts its starts in a file; what it leaves behind is the argument
_COUNTED = "import pathlib, sys; w = pathlib.Path(sys.argv[1]); f = w / 'starts'; f.open('a').write('.')"
_RESTARTS_ONCE = f"{_COUNTED}; len(f.read_text()) == 1 and (w / 'restart.fl').touch(); sys.exit(3)"
_SHUT_DOWN = f"{_COUNTED}; (w / 'shutdown.fl').touch(); sys.exit(3)"


@pytest.mark.parametrize(
    ("script", "starts", "code"), [(_RESTARTS_ONCE, 2, 3), (_SHUT_DOWN, 1, 0), (f"{_COUNTED}; sys.exit(7)", 1, 7)]
)
def test_it_starts_again_only_when_asked_and_a_shutdown_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, starts: int, code: int
) -> None:
    monkeypatch.setattr(parent, "command_of", lambda kit: [sys.executable, "-c", script, str(kit)])
    assert parent.run(tmp_path) == code
    assert (tmp_path / "starts").read_text(encoding="utf-8") == "." * starts


def test_a_request_left_from_an_earlier_life_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shutdown.fl").touch()
    monkeypatch.setattr(parent, "command_of", lambda _kit: [sys.executable, "-c", "raise SystemExit(5)"])
    assert parent.run(tmp_path) == 5
