"""The shipped folders hold what the code gives, and FLARE reads it as meant."""

import json
from pathlib import Path

import pytest
import yaml
from nvflare.app_opt.job_launcher.study_runtime import load_study_runtime_file, resolve_study_runtime
from nvflare.fuel.sec.authz import AuthzContext, Person
from nvflare.security.security import COMMAND_CATEGORIES, FLAuthorizer

from support.provisioned import CONFIGS
from wardround.flare import site_files
from wardround.flare.new_site import PROJECT, NewSite, new_site_texts
from wardround.flare.policy import SERVER_CLASSES, SITE_CLASSES

HOSPITALS = ["hospital-a", "hospital-b", "hospital-c", "hospital-d"]


def _shipped(name: str) -> dict[str, str]:
    site = NewSite(
        name,
        name.replace("-", "_"),
        {
            "brain_tumor": f"../../demo/brain_tumor/{name}/data",
            "clinical_risk": f"../../demo/clinical_risk/{name}/data/stays.csv",
        },
        role="evaluate" if name == "hospital-d" else "train",
        state=f"../../demo/state/{name}",
        cache=f"../../demo/cache/{name}",
        generated=True,
    )
    return new_site_texts(site)


@pytest.mark.parametrize("name", HOSPITALS)
def test_shipped_hospital_folders_are_what_the_code_gives(name: str) -> None:
    expected = _shipped(name)
    shipped = {file.name: file.read_text() for file in (CONFIGS / name).iterdir()}
    table = "  clinical_risk:"  # each hospital's own columns
    head = expected.pop("site.yaml"), shipped.pop("site.yaml")
    assert head[0].split(table)[0] == head[1].split(table)[0]
    assert (head[0] == head[1]) == (name == "hospital-a")
    assert shipped == expected


def test_the_shipped_server_folder_is_what_the_code_gives() -> None:
    images = {"brain_tumor": "imaging", "clinical_risk": "tabular"}
    expected = {
        "resources.json": site_files.server_resources(),
        "authorization.json": site_files.authorization(),
        "study_runtime.yaml": site_files.server_runtime(
            {study: site_files.default_image(target) for study, target in images.items()}
        ),
        "docker.yaml": site_files.docker(site_files.default_image("parent")),
    }
    shipped = {file.name: file.read_text() for file in (CONFIGS / "server").iterdir()}
    assert yaml.safe_load(shipped.pop("left.yaml")) == {"hospitals": []}
    profile = yaml.safe_load((CONFIGS / "profile.yml").read_text())
    participant = yaml.safe_load(shipped.pop("participant.yml"))
    assert participant["participants"] == [{"name": profile["server"]["host"], "type": "server", "org": "consortium"}]
    assert participant["name"] == profile["name"] == PROJECT
    assert shipped == expected


def test_classes_are_listed_one_by_one_and_nothing_is_streamed() -> None:
    resources = json.loads(site_files.site_resources(gpus=2, gpu_memory=40))
    assert resources["class_allow_list"] == list(SITE_CLASSES)
    assert json.loads(site_files.server_resources())["class_allow_list"] == list(SERVER_CLASSES)
    assert not any(name.endswith(".") or "*" in name for name in (*SITE_CLASSES, *SERVER_CLASSES))
    assert resources["allow_log_streaming"] is False
    assert resources["components"][0]["args"]["num_of_gpus"] == 2
    assert resources["components"][0]["args"]["mem_per_gpu_in_GiB"] == 40


@pytest.mark.parametrize("role", ["project_admin", "org_admin", "lead", "member"])
def test_no_role_may_send_code_or_use_a_shell(role: str) -> None:
    authorizer = FLAuthorizer("hospital_a", json.loads(site_files.authorization()))
    for right in ("byoc", *(command for command, kind in COMMAND_CATEGORIES.items() if kind == "shell_commands")):
        assert not _may(authorizer, role, right), right
    assert _may(authorizer, role, "list_jobs")
    assert _may(authorizer, role, "submit_job") == (role in ("project_admin", "lead"))


@pytest.mark.parametrize("name", HOSPITALS)
def test_flare_mounts_patients_data_read_only(name: str) -> None:
    file = str(CONFIGS / name / "study_runtime.yaml")
    for study in ("brain_tumor", "clinical_risk"):
        runtime = resolve_study_runtime(load_study_runtime_file(file, launcher_mode="docker"), study, file)
        assert {mount.dataset: mount.mode for mount in runtime.datasets} == {"data": "ro", "state": "rw", "cache": "rw"}
        assert runtime.container_image == site_files.default_image("imaging" if study == "brain_tumor" else "tabular")


def test_the_project_gives_each_hospital_an_organisation_and_all_four_roles() -> None:
    project = yaml.safe_load((CONFIGS / "project.yml").read_text())
    people = project["participants"]
    assert project["api_version"] == 4
    clients = {one["name"]: one["org"] for one in people if one["type"] == "client"}
    assert len(set(clients.values())) == len(clients) == 3
    assert {one["role"] for one in people if one["type"] == "admin"} == {"project_admin", "org_admin", "lead", "member"}
    assert {one["org"] for one in people if one.get("role") == "org_admin"} == set(clients.values())
    assert set(project["studies"]) == {"brain_tumor", "clinical_risk"}
    assert all((Path(CONFIGS) / name / "site.yaml").is_file() for name in clients)


def _may(authorizer: FLAuthorizer, role: str, right: str) -> bool:
    user = Person("someone", "consortium", role)
    allowed, _reason = authorizer.authorize(AuthzContext(right=right, user=user, submitter=user))
    return bool(allowed)
