"""In what two mappings of settings differ."""

from collections.abc import Mapping
from typing import Any


def unlike(one: Mapping[str, Any], other: Mapping[str, Any], where: str = "") -> dict[str, tuple[Any, Any]]:
    """What differs, by its dotted key: in `one`, and in `other`; a key that one lacks counts as None there."""
    found: dict[str, tuple[Any, Any]] = {}
    for key in sorted({*one, *other}):
        mine, theirs = one.get(key), other.get(key)
        if isinstance(mine, Mapping) and isinstance(theirs, Mapping):
            found |= unlike(mine, theirs, f"{where}{key}.")
        elif mine != theirs:
            found[f"{where}{key}"] = mine, theirs
    return found
