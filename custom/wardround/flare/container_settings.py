"""What a hospital's admin decides of containers: study_runtime.yaml, read by FLARE's own rules, and docker.yaml."""

import re
from pathlib import Path
from typing import Any

from nvflare.app_opt.job_launcher.study_runtime import load_study_runtime_file
from pydantic import BaseModel

from wardround.flare.kit import Kit
from wardround.records.code import IMAGE_DIGEST
from wardround.records.reasons import Reason, WardroundError
from wardround.records.schema_faults import validated
from wardround.records.yaml_text import read_settings

_DIGEST = re.compile(r"(?:^|@)(sha256:[a-f0-9]{64})$")


class _Parent(BaseModel):
    docker_image: str


class _Docker(BaseModel):  # its other keys are for `nvflare deploy prepare` alone, which checks them
    parent: _Parent


def read_study_runtime(file: Path) -> dict[str, Any]:
    """A study_runtime.yaml as it stands there, which FLARE's launcher would take, with its sources' paths in full.

    A container cannot know which image it runs in, so each study's is told by its environment where the file names
    the image by its digest. An image that is named by a tag alone may be another one tomorrow: none is told then.

    Raises:
        WardroundError: it cannot be read, FLARE would refuse it, or it tells a digest of its own.
    """
    runtime = _runtime(file)
    for name, study in runtime["studies"].items():
        for mount in study.get("datasets", {}).values():
            mount["source"] = str((file.parent / mount["source"]).resolve())
        if IMAGE_DIGEST in study.get("env", {}):
            raise WardroundError(
                Reason.CONFIGURATION_INVALID,
                f"{file}: studies.{name}.env.{IMAGE_DIGEST}: expected none, since the installation writes what "
                "container.image says; take it out",
            )
        if digest := image_digest(str(study.get("container", {}).get("image", ""))):
            study["env"] = {**study.get("env", {}), IMAGE_DIGEST: digest}
    return runtime


def image_digest(image: str) -> str | None:
    """`sha256:...` of an image that is named by it, such as `name@sha256:...`; None of one that has a tag alone."""
    found = _DIGEST.search(image)
    return found.group(1) if found else None


def installed_image_digest(kit: Kit, study: str) -> str | None:
    """What the job containers of a study are told of their image; None where they are told none, or there are none.

    Raises:
        WardroundError: the kit's study_runtime.yaml cannot be read.
    """
    if not kit.in_docker:
        return None
    runtime = _runtime(kit.folder / "local" / "study_runtime.yaml")
    told = runtime["studies"].get(study, {}).get("env", {}).get(IMAGE_DIGEST)
    return None if told is None else str(told)


def job_images(file: Path) -> list[str]:
    """The images of a study_runtime.yaml, in its order.

    Raises:
        WardroundError: see `read_study_runtime`.
    """
    return [study["container"]["image"] for study in _runtime(file)["studies"].values() if "container" in study]


def parent_image(file: Path) -> str:
    """The image that a docker.yaml gives to the standing process.

    Raises:
        WardroundError: it cannot be read, or names none.
    """
    return validated(_Docker, read_settings(file, expected="a docker.yaml"), str(file)).parent.docker_image


def _runtime(file: Path) -> dict[str, Any]:
    runtime = read_settings(file, expected="a study_runtime.yaml")
    try:
        load_study_runtime_file(str(file), launcher_mode="docker")
    except ValueError as error:
        raise WardroundError(Reason.CONFIGURATION_INVALID, f"{file}: FLARE would refuse it: {error}") from error
    return {**runtime, "studies": runtime.get("studies") or {}}
