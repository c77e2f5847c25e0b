"""The files beside site.yaml that a hospital's admin owns: what FLARE and the container engine may do at the site.

`wardround site init` writes them, and the folders in site_configs/ hold what these functions give.
"""

import json
from dataclasses import dataclass
from typing import Any

import yaml

from wardround import __version__
from wardround.flare.policy import classes_of, policy

_ROLES = ("project_admin", "org_admin", "lead", "member")
GUARD = "wardround.flare.kit_guard.KitGuard"
MANAGER = "wardround.flare.offered_gpus.OfferedGpus"
_GUARD = {"id": "kit_guard", "path": GUARD, "args": {}}
NEVER = ("shell_commands", "byoc", "server-predeployed-flwr")  # rights that nobody has: they run what is not ours


@dataclass(frozen=True)
class Mounts:
    """Where a study's job container gets what from; paths start from the site's folder.

    Args:
        image: of the job container, such as `wardround/imaging:0.1.0` or, better, by its digest.
        data: folder of patients' data, mounted read-only.
        state: folder that keeps the site's own network entries, mounted writable.
        cache: folder for prepared cases, mounted writable.
    """

    image: str
    data: str
    state: str
    cache: str


def default_image(target: str) -> str:
    """The image of this version: `parent`, `imaging` or `tabular`."""
    return f"wardround/{target}:{__version__}"


def site_resources(gpus: int = 0, gpu_memory: int = 0) -> str:
    """resources.json: which classes a job may build, nothing streamed to the server, and how many GPUs jobs may have.

    Args:
        gpus: number of GPUs for jobs.
        gpu_memory: of each GPU, GiB, that jobs together may ask for; 0 where memory is not counted.
    """
    consumer = "nvflare.app_common.resource_consumers.gpu_resource_consumer.GPUResourceConsumer"
    limits = {"num_of_gpus": gpus, "mem_per_gpu_in_GiB": gpu_memory, "expiration_period": 300}
    components = [
        {"id": "resource_manager", "path": MANAGER, "args": limits},
        {"id": "resource_consumer", "path": consumer, "args": {}},
        _GUARD,
    ]
    return _json({**policy(classes_of("site")), "components": components})


def server_resources() -> str:
    """resources.json of the server: the same policy, and its stores inside its own folder, not in /tmp."""
    stores = {
        "snapshot_persistor": {"args": {"storage": {"args": {"root_dir": "snapshot-storage"}}}},
        "components": [{"id": "job_manager", "args": {"uri_root": "jobs-storage"}}, _GUARD],
    }
    return _json({**policy(classes_of("server")), **stores})


def authorization() -> str:
    """authorization.json: FLARE's rights by role, but no code in jobs and no shell commands for anybody."""
    may: dict[str, dict[str, str]] = {
        "project_admin": dict.fromkeys(
            ("submit_job", "clone_job", "manage_job", "download_job", "view", "operate", "get_job_log"), "any"
        ),
        "org_admin": {
            "submit_job": "none",
            "clone_job": "none",
            "manage_job": "o:submitter",
            "download_job": "o:submitter",
            "view": "any",
            "operate": "o:site",
        },
        "lead": {
            "submit_job": "any",
            "clone_job": "n:submitter",
            "manage_job": "n:submitter",
            "download_job": "n:submitter",
            "view": "any",
            "operate": "o:site",
        },
        "member": {"view": "any"},
    }
    return _json(
        {
            "format_version": "1.0",
            "permissions": {role: {**may[role], **dict.fromkeys(NEVER, "none")} for role in _ROLES},
        }
    )


def privacy() -> str:
    """privacy.json: one scope, so that a job that asks for another is refused; the place for filters of the site."""
    scope = {"name": "hospital", "properties": {}, "task_data_filters": [], "task_result_filters": []}
    return _json({"scopes": [scope], "default_scope": "hospital"})


def study_runtime(studies: dict[str, Mounts]) -> str:
    """study_runtime.yaml: by study, the job container's image and what is mounted into it."""
    entries = {}
    for study, mounts in studies.items():
        entries[study] = {
            "container": {"image": mounts.image},
            "datasets": {
                "data": {"source": mounts.data, "mode": "ro"},
                "state": {"source": mounts.state, "mode": "rw"},
                "cache": {"source": mounts.cache, "mode": "rw"},
            },
            "env": {
                "WARDROUND_STATE_FOLDER": f"/data/{study}/state",
                "WARDROUND_CACHE_FOLDER": f"/data/{study}/cache",
            },
            "docker_kwargs": {"shm_size": "2g"},
        }
    return _runtime(
        "# What a job container of each study gets at this site. Paths start from this file's folder; inside the\n"
        "# container they are /data/<study>/<name>. Name an image by its digest once it is reviewed.\n",
        entries,
    )


def server_runtime(images: dict[str, str]) -> str:
    """study_runtime.yaml of the server: by study, the image of its part of a job. No data is mounted."""
    return _runtime(
        "# The image of the server's part of a job, by study. Name it by its digest once it is reviewed.\n",
        {study: {"container": {"image": image}} for study, image in images.items()},
    )


def docker(image: str) -> str:
    """docker.yaml: what `nvflare deploy prepare` needs to run the site's parent process in a container."""
    settings = {
        "runtime": "docker",
        "parent": {"docker_image": image, "network": "nvflare-network"},
        "job_launcher": {
            "default_python_path": "/usr/local/bin/python",
            "default_job_container_kwargs": {  # a job writes to its own folder, the site's state and cache, and /tmp
                "read_only": True,
                "tmpfs": {"/tmp": "mode=1777"},  # noqa: S108 - the container's own
                "cap_drop": ["ALL"],
                "security_opt": ["no-new-privileges:true"],
                "init": True,
            },
        },
    }
    head = (
        "# For: nvflare deploy prepare KIT --config docker.yaml --output KIT-IN-DOCKER; then wardround site install\n"
    )
    return head + yaml.safe_dump(settings, sort_keys=False)


def _runtime(head: str, studies: dict[str, Any]) -> str:
    return head + yaml.safe_dump({"format_version": 2, "studies": studies}, sort_keys=False)


def _json(value: object) -> str:
    return json.dumps(value, indent=2) + "\n"
