"""Whether a kit, this machine and the images that the site names are of one version."""

import json
import subprocess
from collections.abc import Mapping
from shutil import which

import wardround
from wardround.flare.container_settings import job_images, parent_image
from wardround.flare.installation import Installation
from wardround.flare.kit import Kit
from wardround.records.code import code_facts
from wardround.records.reasons import WardroundError
from wardround.records.versions import package_versions
from wardround.site.check import Check

_VERSION = "org.opencontainers.image.version"
_REVISION = "org.opencontainers.image.revision"
_SHOWN = 12
_TIMEOUT_SECONDS = 20


def check_versions(installation: Installation | None) -> Check:
    """The versions and the code installed here against those that the kit was made ready with.

    Other code of the same version is a warning: it may run, and what was approved with the former asks again.
    """
    flare, code = package_versions()["nvflare"], code_facts().package_sha256
    here = f"wardround {wardround.__version__} (code {code[:_SHOWN]}), FLARE {flare}"
    if installation is None:
        return Check("versions", "ok", here)
    if (installation.version, installation.flare) != (wardround.__version__, flare):
        return Check(
            "versions",
            "failed",
            f"{here}, but the kit was installed with wardround {installation.version}, FLARE {installation.flare}: "
            "install it again with this version",
        )
    if installation.code not in (None, code):
        return Check(
            "versions",
            "warning",
            f"{here}, but the kit was installed with code {installation.code[:_SHOWN]} of the same version: "
            "install it again; what was approved with that code asks again",
        )
    return Check("versions", "ok", here)


def check_images(kit: Kit, installation: Installation | None) -> Check:
    """Version and source revision of each image that a kit for containers names, as its engine knows their labels."""
    if not kit.in_docker:
        return Check("images", "ok", "none: the site runs as processes")
    try:
        names = _images(kit, installation)
    except WardroundError as error:
        return Check("images", "failed", str(error))
    docker = which("docker")
    if docker is None:
        return Check("images", "skipped", f"no engine here to look at {', '.join(names)}")
    labels = {name: _labels(docker, name) for name in names}
    if problems := [f"{name}: {found}" for name, one in labels.items() if (found := _problem(one))]:
        return Check("images", "failed", "; ".join(problems))
    revisions = {
        name: str(one.get(_REVISION) or "unknown")[:_SHOWN] for name, one in labels.items() if isinstance(one, Mapping)
    }
    told = f"of version {wardround.__version__}, "
    if len(set(revisions.values())) > 1:
        each = ", ".join(f"{name} {revision}" for name, revision in revisions.items())
        return Check("images", "warning", f"{told}but of several builds: {each}")
    return Check("images", "ok", f"{', '.join(names)}: {told}revision {next(iter(revisions.values()))}")


def _images(kit: Kit, installation: Installation | None) -> list[str]:
    """Of the job containers, and of the parent where the installed folder has a docker.yaml."""
    names = []
    if installation and installation.source and (docker := installation.source / "docker.yaml").is_file():
        names.append(parent_image(docker))
    names += job_images(kit.folder / "local" / "study_runtime.yaml")
    return list(dict.fromkeys(names))


def _labels(docker: str, image: str) -> Mapping[str, str] | str:
    """Those of an image, or why they are not known."""
    command = [docker, "image", "inspect", "--format", "{{json .Config.Labels}}", image]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_SECONDS, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"the engine does not answer ({type(error).__name__})"
    if done.returncode != 0:
        return f"not on this machine ({done.stderr.strip().splitlines()[-1] if done.stderr.strip() else 'no reason'})"
    return json.loads(done.stdout) or {}


def _problem(labels: Mapping[str, str] | str) -> str:
    if isinstance(labels, str):
        return labels
    version = labels.get(_VERSION)
    return "" if version == wardround.__version__ else f"of version {version}, expected {wardround.__version__}"
