"""YAML as people write it, read strictly: a key that is there twice is an error, where PyYAML keeps the last one."""

from pathlib import Path
from typing import Any

import yaml

from wardround.records.reasons import Reason, WardroundError

_MERGE = "tag:yaml.org,2002:merge"


def read_settings(file: Path, *, expected: str) -> dict[str, Any]:
    """The mapping of settings in a file such as job.yaml.

    Args:
        file: to read.
        expected: what to name instead of a file that cannot be read.

    Raises:
        WardroundError: the file cannot be read, is not YAML, has a key twice, or holds something else than a mapping.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise WardroundError(Reason.CONFIGURATION_INVALID, f"{file}: {reason}; name {expected}") from error
    except UnicodeDecodeError as error:
        raise WardroundError(Reason.CONFIGURATION_INVALID, f"{file}: not readable as YAML: {error}") from error
    settings = yaml_value(text, str(file))
    if not isinstance(settings, dict):
        raise WardroundError(Reason.CONFIGURATION_INVALID, f"{file}: expected a mapping of settings")
    return settings


def yaml_value(text: str, where: str) -> Any:
    """What a piece of YAML means.

    Raises:
        WardroundError: it is not YAML, or has a key twice.
    """
    try:
        return yaml.load(text, _StrictLoader)  # noqa: S506 - a SafeLoader
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # ValueError: a date such as 2024-13-45
        raise WardroundError(Reason.CONFIGURATION_INVALID, f"{where}: not readable as YAML: {error}") from error


def as_scalar(value: str) -> str:
    """A text as YAML writes it in one line, quoted where it would mean something else."""
    return yaml.safe_dump([value], default_flow_style=True, width=float("inf"), allow_unicode=True)[1:-2]


class _StrictLoader(yaml.SafeLoader):
    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node = super().compose_mapping_node(anchor)
        seen = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag == _MERGE:
                continue
            if key.value in seen:
                raise yaml.MarkedYAMLError(problem=f"key {key.value} is there twice", problem_mark=key.start_mark)
            seen.add(key.value)
        return node
