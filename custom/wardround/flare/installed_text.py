"""What each file of a kit's `local/` folder is to hold, worked out of the kit and the admin's own folder."""

import json
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from wardround.flare import site_files
from wardround.flare.container_settings import read_study_runtime
from wardround.flare.departed import Departed, without_departed
from wardround.flare.kit import Kit
from wardround.flare.resources_file import MODELS, Resources
from wardround.records.json_text import checked_json
from wardround.records.reasons import Reason, WardroundError
from wardround.site.config import SiteConfig, resolved_yaml

_ADVICE = "take one of site_configs/ as a pattern, or leave the file out"
_MANAGER, _STORE = "resource_manager", "job_manager"


def server_texts(kit: Kit, source: Path | None, workspace: Path, departed: list[Departed]) -> dict[str, str]:
    """resources.json and authorization.json of a server; its stores get paths below `workspace`, and hospitals that
    have left get no right."""
    own = _own(source, "resources.json", site_files.server_resources())
    if kit.in_docker:  # `nvflare deploy prepare` has put the stores into the container's workspace
        own = {key: value for key, value in own.items() if key != "snapshot_persistor"}
        own["components"] = [one for one in own.get("components", []) if one["id"] != _STORE]
    resources = _merged_resources(kit, own)
    if not kit.in_docker:
        _put_stores_below(workspace, resources, kit)
    rights = _own(source, "authorization.json", site_files.authorization())
    texts = {
        "resources.json": _dumped(resources),
        "authorization.json": _dumped(without_departed(rights, departed)),
    }
    if kit.in_docker:
        texts["study_runtime.yaml"] = _dumped_yaml(_runtime(source, kit))
    return texts


def _put_stores_below(workspace: Path, resources: dict[str, Any], kit: Kit) -> None:
    try:
        storage = resources["snapshot_persistor"]["args"]["storage"]["args"]
        storage["root_dir"] = str(workspace / storage["root_dir"])
        store = next(one["args"] for one in resources["components"] if one["id"] == _STORE)
        store["uri_root"] = str(workspace / store["uri_root"])
    except (LookupError, TypeError, StopIteration) as error:
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            f"{kit.folder / 'local'}/resources.json: expected snapshot_persistor.args.storage.args.root_dir and a "
            f"component {_STORE} with args.uri_root, found no {error or _STORE}; {_ADVICE}",
        ) from error


def site_texts(kit: Kit, source: Path, config: SiteConfig) -> dict[str, str]:
    """All files of a site; where it runs in containers, site.yaml names the paths that its job containers see."""
    resources = _merged_resources(kit, _own(source, "resources.json", site_files.site_resources()))
    texts = {
        "resources.json": _dumped(resources),
        "authorization.json": _dumped(_own(source, "authorization.json", site_files.authorization())),
        "privacy.json": _dumped(_own(source, "privacy.json", site_files.privacy())),
        "site.yaml": resolved_yaml(config),
    }
    if kit.in_docker:
        runtime = _runtime(source, kit)
        texts["study_runtime.yaml"] = _dumped_yaml(runtime)
        texts["site.yaml"] = _in_container(config, runtime)
    return texts


def _merged_resources(kit: Kit, own: dict[str, Any]) -> dict[str, Any]:
    """FLARE's own resources of the kit, with the admin's keys over them and components replaced by their id."""
    default = kit.folder / "local" / "resources.json.default"
    if not default.is_file():
        raise WardroundError(Reason.ENVIRONMENT_INVALID, f"{default}: missing; ask for the kit again")
    merged = _over(
        checked_json(default, Resources, advice="ask for the kit again"),
        {key: value for key, value in own.items() if key != "components"},
    )
    components = {component["id"]: component for component in merged.get("components", [])}
    for component in own.get("components", []):
        present = components.get(component["id"], {})
        if kit.in_docker and component["id"] == _MANAGER:  # the parent's container sees no GPU, the job's does
            component = {**component, "args": {**component.get("args", {}), "ignore_host": True}}
        components[component["id"]] = _over(present, component) if "path" not in component else component
    return {**merged, "components": list(components.values())}


def _over(base: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    result = dict(base)
    for key, value in own.items():
        both = isinstance(value, dict) and isinstance(result.get(key), dict)
        result[key] = _over(result[key], value) if both else value
    return result


def _runtime(source: Path | None, kit: Kit) -> dict[str, Any]:
    file = (source or Path("site_configs") / kit.name) / "study_runtime.yaml"
    if not file.is_file():
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            f"{file}: missing; a kit that runs in containers needs to know what a job container gets, and no default "
            "can; take one of site_configs/ as a pattern",
        )
    return read_study_runtime(file)


def _in_container(config: SiteConfig, runtime: dict[str, Any]) -> str:
    settings = yaml.safe_load(resolved_yaml(config))
    settings["state_folder"], settings["cache_folder"] = "${WARDROUND_STATE_FOLDER}", "${WARDROUND_CACHE_FOLDER}"
    for study, section in settings["data"].items():
        mounts = runtime["studies"].get(study, {}).get("datasets", {})
        settings["data"][study] = _mounted(section, study, {name: Path(m["source"]) for name, m in mounts.items()})
    return _dumped_yaml(settings)


def _mounted(section: dict[str, Any], study: str, mounts: dict[str, Path]) -> dict[str, Any]:
    """A workload's section with each path below a mount's source written as job containers see it."""

    def seen(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: seen(inner) for key, inner in value.items()}
        if isinstance(value, str) and value.startswith("/"):
            for name, source in mounts.items():
                if Path(value) == source or source in Path(value).parents:
                    return str(PurePosixPath("/data") / study / name / Path(value).relative_to(source))
        return value

    return {key: seen(value) for key, value in section.items()}


def _own(source: Path | None, name: str, default: str) -> dict[str, Any]:
    """The admin's own file, else the default; a link that leads nowhere is no reason to take the default."""
    file = source / name if source else None
    if file is None or not (file.exists() or file.is_symlink()):
        return dict(json.loads(default))
    return checked_json(file, MODELS[name], advice=_ADVICE)


def _dumped(value: object) -> str:
    return json.dumps(value, indent=2) + "\n"


def _dumped_yaml(value: object) -> str:
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True)
