"""The Dockerfile and the compose files, as linters and Compose itself read them. No engine is asked."""

import json
import subprocess
from typing import Any

import pytest

from support.containers import HOSPITALS, PARENTS, ROOT, docker, tool

pytestmark = pytest.mark.images

SETTINGS = {
    "DOCKER_SOCKET": "/run/docker.sock",
    "KITS": "/kits",
    "DATA": "/data",
    "LEAD_KIT": "/lead",
    "JOBS": "/jobs",
    "RESULTS": "/results",
}


def _composed(*files: str) -> dict[str, Any]:
    chosen = [word for file in files for word in ("--file", str(ROOT / "docker" / file))]
    result: dict[str, Any] = json.loads(docker("compose", *chosen, "config", "--format", "json", environment=SETTINGS))
    services: dict[str, Any] = result["services"]
    return services


def test_the_dockerfile_has_no_finding() -> None:
    done = subprocess.run(
        [tool("hadolint"), ROOT / "docker" / "Dockerfile"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_the_dockerfile_needs_no_particular_builder() -> None:
    text = (ROOT / "docker" / "Dockerfile").read_text(encoding="utf-8")
    for word in ("# syntax=", "--mount", "COPY --link", "<<"):
        assert word not in text


@pytest.mark.parametrize("file", ["compose.yaml", "compose.process.yaml"])
def test_every_service_is_locked_down_and_hospitals_wait_for_the_server(file: str) -> None:
    services = _composed(file)
    assert sorted(services) == sorted(PARENTS)  # `lead` is asked for by name
    for name, service in services.items():
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert service["user"] == "10001:10001"
        assert "privileged" not in service
        waits = service.get("depends_on", {})
        assert waits == ({} if name == "server" else {"server": {"condition": "service_healthy", "required": True}})


def test_a_parent_sees_its_own_kit_and_the_socket_and_no_patient() -> None:
    for name, service in _composed("compose.yaml").items():
        assert [mount["source"] for mount in service["volumes"]] == [f"/kits/{name}", "/run/docker.sock"]


def test_without_the_socket_a_site_sees_its_own_data_alone_and_may_not_write_to_it() -> None:
    for name, service in _composed("compose.process.yaml").items():
        mounts = {mount["source"]: mount.get("read_only", False) for mount in service["volumes"]}
        own = {f"/kits/{name}": False}
        if name in HOSPITALS:
            own |= {f"/data/{study}/{name}/data": True for study in ("brain_tumor", "clinical_risk")}
            own |= {f"/data/{part}/{name}": False for part in ("state", "cache")}
        assert mounts == own


def test_the_override_gives_hospitals_a_gpu_and_the_server_none() -> None:
    services = _composed("compose.process.yaml", "compose.gpu.yaml")
    for name in HOSPITALS:
        (device,) = services[name]["deploy"]["resources"]["reservations"]["devices"]
        assert (device["driver"], device["capabilities"], device["device_ids"]) == ("nvidia", ["gpu"], ["0"])
    assert "deploy" not in services["server"]
