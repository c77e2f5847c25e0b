"""Copies of an exported job, each changed in one way that a hospital must not accept."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

Change = Callable[[Path, dict[str, Any]], None]


def changed_job(job: Path, name: str, change: Change) -> Path:
    """A copy beside the job, under a name of its own, after `change(folder, meta)`."""
    folder = shutil.copytree(job, job.with_name(name))
    meta = {**json.loads((folder / "meta.json").read_text()), "name": name}
    change(folder, meta)
    (folder / "meta.json").write_text(json.dumps(meta))
    return folder


def with_code(folder: Path, _meta: dict[str, Any]) -> None:
    """Python beside the configuration."""
    (folder / "app" / "custom").mkdir()
    (folder / "app" / "custom" / "extra.py").write_text("ready = True\n")


def with_an_image(_folder: Path, meta: dict[str, Any]) -> None:
    """The job names the container image that it wants to run in."""
    meta["launcher_spec"] = {"default": {"docker": {"image": "elsewhere.example/image:1"}}}


def in_scope(scope: str) -> Change:
    """The job names a privacy scope."""

    def change(_folder: Path, meta: dict[str, Any]) -> None:
        meta["scope"] = scope

    return change


def building(classes: dict[str, tuple[str, dict[str, Any]]]) -> Change:
    """At each site, a component of a class or function, with arguments, that its policy does not list."""

    def change(folder: Path, meta: dict[str, Any]) -> None:
        deploy = {"app": ["server"]}
        for site, (path, arguments) in classes.items():
            app = shutil.copytree(folder / "app", folder / f"app_{site}")
            file = app / "config" / "config_fed_client.json"
            config = json.loads(file.read_text())
            component = {"id": "smuggled", "path": path, "args": arguments}
            file.write_text(json.dumps({**config, "components": [*config.get("components", []), component]}))
            deploy[f"app_{site}"] = [site]
        meta["deploy_map"] = deploy

    return change
