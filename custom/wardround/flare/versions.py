"""Whether a kit, this machine and the images that the site names are of one version."""

import json
import subprocess
from shutil import which

import wardround
from wardround.flare.container_settings import job_images, parent_image
from wardround.flare.installation import Installation
from wardround.flare.kit import Kit
from wardround.records.reasons import WardroundError
from wardround.records.versions import package_versions
from wardround.site.check import Check

_LABEL = "org.opencontainers.image.version"
_TIMEOUT_SECONDS = 20


def check_versions(installation: Installation | None) -> Check:
    """The versions installed here against those that the kit was made ready with."""
    flare = package_versions()["nvflare"]
    here = f"wardround {wardround.__version__}, FLARE {flare}"
    if installation is None:
        return Check("versions", "ok", here)
    if (installation.version, installation.flare) != (wardround.__version__, flare):
        return Check(
            "versions",
            "failed",
            f"{here}, but the kit was installed with wardround {installation.version}, FLARE {installation.flare}: "
            "install it again with this version",
        )
    return Check("versions", "ok", here)


def check_images(kit: Kit, installation: Installation | None) -> Check:
    """The version label of each image that a kit for containers names, as its engine knows it."""
    if not kit.in_docker:
        return Check("images", "ok", "none: the site runs as processes")
    try:
        names = _images(kit, installation)
    except WardroundError as error:
        return Check("images", "failed", str(error))
    docker = which("docker")
    if docker is None:
        return Check("images", "skipped", f"no engine here to look at {', '.join(names)}")
    problems = [f"{name}: {found}" for name in names if (found := _problem(docker, name))]
    if problems:
        return Check("images", "failed", "; ".join(problems))
    return Check("images", "ok", f"{', '.join(names)}: of version {wardround.__version__}")


def _images(kit: Kit, installation: Installation | None) -> list[str]:
    """Of the job containers, and of the parent where the installed folder has a docker.yaml."""
    names = []
    if installation and installation.source and (docker := installation.source / "docker.yaml").is_file():
        names.append(parent_image(docker))
    names += job_images(kit.folder / "local" / "study_runtime.yaml")
    return list(dict.fromkeys(names))


def _problem(docker: str, image: str) -> str:
    command = [docker, "image", "inspect", "--format", "{{json .Config.Labels}}", image]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_SECONDS, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"the engine does not answer ({type(error).__name__})"
    if done.returncode != 0:
        return f"not on this machine ({done.stderr.strip().splitlines()[-1] if done.stderr.strip() else 'no reason'})"
    version = (json.loads(done.stdout) or {}).get(_LABEL)
    return "" if version == wardround.__version__ else f"of version {version}, expected {wardround.__version__}"
