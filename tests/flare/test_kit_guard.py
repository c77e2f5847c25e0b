"""An edited kit does not start, and a site keeps answers only for what running jobs needs."""

import json
from pathlib import Path

import pytest
from nvflare.apis.event_type import EventType
from nvflare.apis.fl_constant import FLContextKey
from nvflare.apis.fl_context import FLContext
from nvflare.apis.fl_exception import UnsafeComponentError
from nvflare.apis.workspace import Workspace
from nvflare.private.defs import SysCommandTopic, TrainingTopic
from nvflare.private.fed.client.client_req_processors import ClientRequestProcessors

from wardround.flare import kit_guard
from wardround.flare.kit_guard import KitGuard, withhold_processors

WITHHELD = [
    SysCommandTopic.CONFIGURE_SITE_LOG,
    SysCommandTopic.REPORT_ENV,
    SysCommandTopic.SHELL,
    TrainingTopic.CONFIGURE_JOB_LOG,
]


@pytest.fixture(autouse=True)
def processors(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    mine = list(ClientRequestProcessors.request_processors)
    monkeypatch.setattr(ClientRequestProcessors, "request_processors", mine)
    return mine


def _topics() -> set[str]:
    return {topic for one in ClientRequestProcessors.request_processors for topic in one.get_topics()}


def _start(kit: Path) -> None:
    fl_ctx = FLContext()
    fl_ctx.set_prop(FLContextKey.WORKSPACE_OBJECT, Workspace(str(kit), "hospital-a"), private=True)
    for callback, arguments in KitGuard().get_event_handlers()[EventType.SYSTEM_BOOTSTRAP]:
        callback(EventType.SYSTEM_BOOTSTRAP, fl_ctx, **arguments)


def test_a_site_starts_without_the_commands_that_read_files_or_turn_logs(kit: Path, processors: list[object]) -> None:
    assert _topics().issuperset(WITHHELD)
    _start(kit)
    assert _topics().isdisjoint(WITHHELD)
    assert _topics().issuperset({TrainingTopic.DEPLOY, TrainingTopic.START_JOB, TrainingTopic.ABORT})
    assert ClientRequestProcessors.request_processors is processors  # FLARE keeps this very list
    assert withhold_processors() == []


def test_a_command_that_nobody_has_reviewed_is_withheld() -> None:
    class Later(type(ClientRequestProcessors.request_processors[0])):  # type: ignore[misc]
        def get_topics(self) -> list[str]:
            return ["sys.later"]

    ClientRequestProcessors.request_processors.append(Later())
    assert withhold_processors() == sorted([*WITHHELD, "sys.later"])


def test_an_edited_startup_file_is_named_and_nothing_starts(kit: Path) -> None:
    file = kit / "startup" / "fed_client.json"
    settings = json.loads(file.read_text())
    settings["servers"][0]["service"]["target"] = "elsewhere.example:8002"
    file.write_text(json.dumps(settings))
    with pytest.raises(UnsafeComponentError, match=r"not started: .*startup: .*fed_client\.json was edited"):
        _start(kit)


def test_a_kit_that_nobody_installed_does_not_start(kits: Path) -> None:
    with pytest.raises(UnsafeComponentError, match=r"wardround\.json: missing; run `wardround site install`"):
        _start(kits / "hospital-b")


@pytest.mark.parametrize(
    "record", [b"{}", b"\xff", b'{"source": null, "version": "", "flare": "", "local": {}, "startup": [1]}']
)
def test_a_damaged_record_of_the_installation_starts_nothing(kit: Path, record: bytes) -> None:
    (kit / "local" / "wardround.json").write_bytes(record)
    with pytest.raises(UnsafeComponentError, match=r"wardround\.json: damaged"):
        _start(kit)
    assert _topics().isdisjoint(WITHHELD)


def test_a_check_that_breaks_starts_nothing(kit: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kit_guard, "startup_faults", lambda _kit: 1 / 0)
    with pytest.raises(UnsafeComponentError, match="not started: division by zero"):
        _start(kit)
