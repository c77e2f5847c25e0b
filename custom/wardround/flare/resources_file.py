"""FLARE's files of a kit's `local/` folder, as far as wardround has to understand them; the rest passes unread."""

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from wardround.records.json_text import read_json


class Component(BaseModel):
    """One component of a server's or site's standing process."""

    model_config = ConfigDict(frozen=True, extra="allow")

    id: str
    args: dict[str, Any] = {}


class Resources(BaseModel):
    """A whole resources.json."""

    model_config = ConfigDict(frozen=True, extra="allow")

    components: list[Component] = []


class Rights(BaseModel):
    """A whole authorization.json: by role, one word for all rights or each right's conditions."""

    model_config = ConfigDict(frozen=True, extra="allow")

    permissions: dict[str, str | list[str] | dict[str, str | list[str]]]


class Scopes(BaseModel):
    """A whole privacy.json."""

    model_config = ConfigDict(frozen=True, extra="allow")

    scopes: list[dict[str, Any]]


MODELS: dict[str, type[BaseModel]] = {
    "resources.json": Resources,
    "authorization.json": Rights,
    "privacy.json": Scopes,
}


def read_resources(file: Path) -> Resources:
    """Reads a resources.json or resources.json.default.

    Raises:
        WardroundError: it cannot be read.
    """
    return read_json(file, Resources, advice="install again, or ask for the kit again")
