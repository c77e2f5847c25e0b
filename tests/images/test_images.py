"""What each image is: who it runs as, what is in it, what it says of itself, and what it refuses."""

import json
import subprocess
from pathlib import Path

import pytest

from support.containers import OWNER, ROOT, WORKSPACE, docker, image, inspected, tool
from support.kits import make_kit
from wardround import __version__

pytestmark = pytest.mark.images

TARGETS = ("parent", "tabular", "imaging")
# any uid, nothing writable but /tmp: what a hospital may insist on
LOCKED = ["run", "--rm", "--user", "12345:12345", "--read-only", "--tmpfs", "/tmp:mode=1777", "--cap-drop", "ALL"]
_MODULES = "import importlib.util as u; print([n for n in ('nvflare', 'torch', 'monai', 'polars') if u.find_spec(n)])"
_CODE = "from wardround.records.code import code_facts; print(code_facts().revision, code_facts().image_digest)"
_PINS = "import importlib.metadata as m; print('\\n'.join(f'{d.name}=={d.version}' for d in m.distributions()))"


@pytest.mark.parametrize("target", TARGETS)
def test_an_image_says_what_it_was_made_of_and_runs_as_a_numbered_user(target: str) -> None:
    config = inspected(image(target), "image")["Config"]
    assert config["User"] == f"{OWNER}:{OWNER}"
    assert config["Labels"]["org.opencontainers.image.version"] == __version__
    assert config["Labels"]["org.opencontainers.image.base.name"]
    revision = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()
    labelled = config["Labels"]["org.opencontainers.image.revision"]
    assert labelled.removesuffix("-dirty") == revision
    told = docker(*LOCKED, image(target), "python", "-c", _CODE)
    assert told.split() == [labelled, "None"]


@pytest.mark.parametrize(
    ("target", "modules"),
    [
        ("parent", ["nvflare"]),
        ("tabular", ["nvflare", "torch", "polars"]),
        ("imaging", ["nvflare", "torch", "monai"]),
    ],
)
def test_an_image_has_what_its_jobs_need_and_no_more(target: str, modules: list[str]) -> None:
    assert docker(*LOCKED, image(target), "python", "-c", _MODULES).strip() == str(modules)


@pytest.mark.parametrize("target", TARGETS)
def test_every_package_has_the_version_that_was_tested(target: str) -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = {name.lower().replace("_", "-"): version for name, _, version in (line.partition("==") for line in lines)}
    found = dict(line.split("==") for line in docker(*LOCKED, image(target), "python", "-c", _PINS).split())
    found = {name.lower().replace("_", "-"): version.partition("+")[0] for name, version in found.items()}
    assert found.pop("wardround") == __version__
    for own in ("pip", "setuptools", "wheel"):  # the base's
        found.pop(own, None)
    assert {name: version for name, version in found.items() if pins.get(name) != version} == {}


@pytest.mark.parametrize(("target", "study"), [("tabular", "clinical_risk"), ("imaging", "brain_tumor")])
def test_a_job_image_trains_under_any_uid_with_nothing_writable_but_tmp(target: str, study: str) -> None:
    arguments = ["--rows", "60"] if study == "clinical_risk" else ["--size", "16", "--train", "1", "--test", "1"]
    name = study.replace("_", "-")
    synth = f"wardround synth {name} /tmp/made {' '.join(arguments)}"
    step = "import torch; w = torch.ones(2, requires_grad=True); (w * w).sum().backward(); print(w.grad.tolist())"
    output = docker(*LOCKED, image(target), "sh", "-c", f'{synth} && python -c "{step}"')
    assert "[2.0, 2.0]" in output


def test_a_parent_without_a_kit_says_so() -> None:
    output = docker(*LOCKED, image("parent"), expect=2)
    assert f"{WORKSPACE}: not a startup kit of a server or hospital" in output


def test_a_parent_that_may_not_write_to_its_kit_says_so(tmp_path: Path) -> None:
    make_kit(tmp_path / "kit").chmod(0o755)
    output = docker(*LOCKED, "--volume", f"{tmp_path / 'kit'}:{WORKSPACE}", image("parent"), expect=2)
    assert "user 12345:12345 may not write to the kit's folder" in output


def test_the_parent_is_healthy_only_when_registered() -> None:
    check = inspected(image("parent"), "image")["Config"]["Healthcheck"]["Test"]
    assert check == ["CMD", "python", "-m", "wardround.flare.health", WORKSPACE]
    output = docker(*LOCKED, image("parent"), *check[1:], expect=1)
    assert output.strip() == f"no FLARE process runs in {WORKSPACE}"


@pytest.mark.parametrize("target", TARGETS)
def test_a_bill_of_materials_names_what_is_in_an_image(target: str, tmp_path: Path) -> None:
    archive = tmp_path / "image.tar"
    docker("save", "--output", str(archive), image(target))
    made = subprocess.run(
        [tool("syft"), f"docker-archive:{archive}", "--quiet", "--output", "spdx-json"],
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    names = {package["name"].lower() for package in json.loads(made.stdout)["packages"]}
    assert {"wardround", "nvflare", "cryptography"} <= names
    assert ("torch" in names) == (target != "parent")
    assert ("monai" in names) == (target == "imaging")
