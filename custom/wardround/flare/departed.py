"""Hospitals that have left: what keeps their sites and their people out of a server.

FLARE 2.9 checks no revocation list, so a certificate stays good for TLS until it expires or the consortium gets a new
root. What FLARE does offer is used here: a disabled client cannot register or be heard, and a role's right can
exclude an organisation.
"""

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from wardround.records.files import write_whole
from wardround.records.json_text import read_json
from wardround.records.schema_faults import validated
from wardround.records.yaml_text import read_settings

FILE_NAME = "left.yaml"
_DISABLED = "disabled_clients.json"  # FLARE's, in the server's own folder; read when it starts


class Departed(BaseModel):
    """One hospital that has left."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    client: str = Field(min_length=1, description="the site's name, as in its certificate")
    org: str = Field(min_length=1, description="its organisation in project.yml, whose admins lose every right")


class _Disabled(BaseModel):
    model_config = ConfigDict(frozen=True)

    disabled_clients: list[str]


class DepartedHospitals(BaseModel):
    """A whole left.yaml."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    hospitals: list[Departed] = []


def read_departed(file: Path) -> list[Departed]:
    """The hospitals of a left.yaml; none where there is no such file.

    Raises:
        WardroundError: it is not valid.
    """
    if not file.is_file():
        return []
    return validated(DepartedHospitals, read_settings(file, expected="a left.yaml"), str(file)).hospitals


def without_departed(authorization: dict[str, Any], departed: list[Departed]) -> dict[str, Any]:
    """An authorization.json in which no right is granted to anyone of these organisations."""
    orgs = [f"not o:{one.org}" for one in departed]

    def excluding(granted: Any) -> Any:
        if isinstance(granted, dict):
            return {right: excluding(condition) for right, condition in granted.items()}
        conditions = granted if isinstance(granted, list) else [granted]
        return granted if granted == "none" or not orgs else [*conditions, *orgs]

    return {**authorization, "permissions": excluding(authorization["permissions"])}


def disable_clients(server: Path, departed: list[Departed]) -> None:
    """Adds them to those that the server in this folder disables when it starts; nobody is taken out."""
    file = server / _DISABLED
    advice = "FLARE writes it: bring it back from a backup, or remove it and disable again whom it had"
    present = read_json(file, _Disabled, advice=advice).disabled_clients if file.is_file() else []
    names = sorted({*present, *(one.client for one in departed)})
    if names != present:
        write_whole(file, (json.dumps({"disabled_clients": names}, indent=2) + "\n").encode())
