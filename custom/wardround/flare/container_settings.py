"""What a hospital's admin decides of containers: study_runtime.yaml, read by FLARE's own rules, and docker.yaml."""

from pathlib import Path
from typing import Any

from nvflare.app_opt.job_launcher.study_runtime import load_study_runtime_file
from pydantic import BaseModel

from wardround.records.reasons import Reason, WardroundError
from wardround.records.schema_faults import validated
from wardround.records.yaml_text import read_settings


class _Parent(BaseModel):
    docker_image: str


class _Docker(BaseModel):  # its other keys are for `nvflare deploy prepare` alone, which checks them
    parent: _Parent


def read_study_runtime(file: Path) -> dict[str, Any]:
    """A study_runtime.yaml as it stands there, which FLARE's launcher would take, with its sources' paths in full.

    Raises:
        WardroundError: it cannot be read, or FLARE would refuse it.
    """
    runtime = _runtime(file)
    for study in runtime["studies"].values():
        for mount in study.get("datasets", {}).values():
            mount["source"] = str((file.parent / mount["source"]).resolve())
    return runtime


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
