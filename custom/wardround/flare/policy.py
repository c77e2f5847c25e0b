"""What a job may build at a site: our classes one by one, beside FLARE's default list. Never a prefix."""

import json
from pathlib import Path
from typing import Any

from nvflare.app_common.default_component_policy import DEFAULT_CLASS_ALLOW_LIST

from wardround.records.files import write_whole

# A prefix such as "wardround." would let a job call anything that our modules import: FLARE builds any callable.
OUR_CLASSES = (
    "wardround.flare.aggregator.UpdateAggregator",
    "wardround.flare.controller.RoundController",
    "wardround.flare.executor.SiteExecutor",
    "wardround.flare.persistor.CheckpointPersistor",
    "wardround.flare.selector.FixedSitesSelector",
)


def class_allow_list() -> list[str]:
    """FLARE's default list (setting the key replaces it) and our classes by their exact paths."""
    return [*DEFAULT_CLASS_ALLOW_LIST, *OUR_CLASSES]


def policy() -> dict[str, Any]:
    """The keys of every resources.json: the class list, enforced, and no log streaming to the server."""
    return {
        "format_version": 2,
        "class_list_enforcement_mode": "enforce",
        "class_allow_list": class_allow_list(),
        "allow_log_streaming": False,
    }


def resources(present: dict[str, Any]) -> dict[str, Any]:
    """A site's resources.json with this policy.

    Args:
        present: what the site has, such as FLARE's resources.json.default; all other keys are kept.
    """
    return {**present, **policy()}


def write_resources(local_folder: Path) -> Path:
    """Writes `resources.json` into a workspace's `local/` folder; it takes precedence over FLARE's default."""
    present: dict[str, Any] = {}
    for name in ("resources.json", "resources.json.default"):
        file = local_folder / name
        if file.is_file():
            present = json.loads(file.read_text(encoding="utf-8"))
            break
    target = local_folder / "resources.json"
    write_whole(target, (json.dumps(resources(present), indent=2) + "\n").encode())
    return target
