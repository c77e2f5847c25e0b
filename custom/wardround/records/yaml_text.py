"""YAML as people write it, read strictly.

A key that is there twice is an error, where PyYAML keeps the last one. Of numbers, YAML 1.1 would make more than is
written: 20:00 is text here and not 1200, and 0700 neither 448 nor 700.
"""

import re
from pathlib import Path
from typing import Any

import yaml

from wardround.records.reasons import Reason, WardroundError

_MERGE = "tag:yaml.org,2002:merge"
_INTEGER, _FLOAT = "tag:yaml.org,2002:int", "tag:yaml.org,2002:float"
_MOST_VALUES = 1_000_000  # with what aliases repeat: a contract of hundreds of columns has some thousand


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
        WardroundError: it is not YAML, has a key twice, or a part of it that is in itself.
    """
    try:
        value = yaml.load(text, _StrictLoader)  # noqa: S506 - a SafeLoader
        if _size(value, {}) > _MOST_VALUES:
            raise ValueError(f"its aliases repeat values to more than {_MOST_VALUES:,}")
        return value
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # ValueError: a date such as 2024-13-45
        raise WardroundError(Reason.CONFIGURATION_INVALID, f"{where}: not readable as YAML: {error}") from error


def as_scalar(value: str) -> str:
    """A text as YAML writes it in one line, quoted where it would mean something else."""
    return yaml.safe_dump([value], default_flow_style=True, width=float("inf"), allow_unicode=True)[1:-2]


def _size(value: Any, known: dict[int, int]) -> int:
    """How many values there are, those under an alias counted wherever it stands."""
    if not isinstance(value, dict | list):
        return 1
    if id(value) in known:
        if not known[id(value)]:
            raise ValueError("an alias (*) stands within what it names, so that it would never end")
        return known[id(value)]
    known[id(value)] = 0
    parts = value.values() if isinstance(value, dict) else value
    known[id(value)] = 1 + sum(_size(part, known) for part in parts)
    return known[id(value)]


class _StrictLoader(yaml.SafeLoader):
    yaml_implicit_resolvers = {  # noqa: RUF012 - as PyYAML has it
        first: [(tag, pattern) for tag, pattern in resolvers if tag not in (_INTEGER, _FLOAT)]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

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


_StrictLoader.add_implicit_resolver(
    _INTEGER, re.compile(r"[-+]?(0|[1-9][0-9_]*|0b[01_]+|0x[0-9a-fA-F_]+)$"), list("-+0123456789")
)
_StrictLoader.add_implicit_resolver(
    _FLOAT,
    re.compile(
        r"([-+]?[0-9][0-9_]*\.[0-9_]*([eE][-+][0-9]+)?|[-+]?\.[0-9][0-9_]*([eE][-+][0-9]+)?"
        r"|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$"
    ),
    list("-+0123456789."),
)
