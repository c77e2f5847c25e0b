"""What a job may build at the server or a site: what a study's job consists of, class by class. Never a prefix."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wardround.records.files import write_whole

# A prefix such as "wardround." would let a job call anything that our modules import: FLARE builds any callable.
# FLARE's own default list is not part of it: with one of its executors a job would pass by the site's consent, gate and
# outbox, all of which hang on ours. Filters of the site's privacy.json need not be listed.
SITE_CLASSES: tuple[str, ...] = ("wardround.flare.executor.SiteExecutor",)
SERVER_CLASSES: tuple[str, ...] = (
    "nvflare.app_common.widgets.metrics_artifact_writer.MetricsArtifactWriter",
    "nvflare.app_common.widgets.validation_json_generator.ValidationJsonGenerator",
    "wardround.flare.aggregator.UpdateAggregator",
    "wardround.flare.controller.RoundController",
    "wardround.flare.persistor.CheckpointPersistor",
    "wardround.flare.selector.FixedSitesSelector",
)


def classes_of(role: str) -> tuple[str, ...]:
    """What a job builds at a kit of this role, `server` or `site`."""
    return SERVER_CLASSES if role == "server" else SITE_CLASSES


def policy(classes: Sequence[str]) -> dict[str, Any]:
    """The keys of every resources.json: the class list, enforced, and no log streaming to the server.

    Args:
        classes: by their exact paths; see `classes_of`.
    """
    return {
        "format_version": 2,
        "class_list_enforcement_mode": "enforce",
        "class_allow_list": list(classes),
        "allow_log_streaming": False,
    }


def resources(present: dict[str, Any], classes: Sequence[str]) -> dict[str, Any]:
    """A resources.json with this policy.

    Args:
        present: what is there, such as FLARE's resources.json.default; all other keys are kept.
        classes: see `policy`.
    """
    return {**present, **policy(classes)}


def write_resources(local_folder: Path, classes: Sequence[str]) -> Path:
    """Writes `resources.json` into a workspace's `local/` folder; it takes precedence over FLARE's default."""
    present: dict[str, Any] = {}
    for name in ("resources.json", "resources.json.default"):
        file = local_folder / name
        if file.is_file():
            present = json.loads(file.read_text(encoding="utf-8"))
            break
    target = local_folder / "resources.json"
    write_whole(target, (json.dumps(resources(present, classes), indent=2) + "\n").encode())
    return target
