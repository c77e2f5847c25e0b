"""A FLARE startup kit: whose it is, and whose settings may go into it."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from wardround.records.reasons import Reason, WardroundError
from wardround.site.config import SiteConfig

_PORTS = 65536
DOCKER_START = "start_docker.sh"
_ROLE_FILES: dict[str, Literal["server", "site", "admin"]] = {
    "fed_server.json": "server",
    "fed_client.json": "site",
    "fed_admin.json": "admin",
}


@dataclass(frozen=True)
class Kit:
    """What a startup kit says about itself.

    Attributes:
        folder: holds `startup/` and `local/`.
        role: a server's, a site's or an admin's.
        name: of the server or site, as in its certificate; of an admin, the user name.
        host: name of the server to connect to; of a server, its own.
        port: of the server.
        scheme: how FLARE talks to it: http, grpc or tcp, each within TLS.
        in_docker: `nvflare deploy prepare` made it ready for containers.
    """

    folder: Path
    role: Literal["server", "site", "admin"]
    name: str
    host: str
    port: int
    scheme: str
    in_docker: bool

    @property
    def certificate(self) -> Path:
        """The participant's own certificate."""
        return self.folder / "startup" / ("server.crt" if self.role == "server" else "client.crt")

    @property
    def root(self) -> Path:
        """The certificate of the authority that signed every certificate of the consortium."""
        return self.folder / "startup" / "rootCA.pem"


def read_kit(folder: Path) -> Kit:
    """Reads what a startup kit is.

    Raises:
        WardroundError: the folder is no startup kit, or its startup file is damaged.
    """
    startup = folder / "startup"
    if not startup.is_dir() or not (folder / "local").is_dir():
        raise _no_kit(f"{folder}: not a startup kit; expected a folder with startup/ and local/ in it")
    found = [name for name in _ROLE_FILES if (startup / name).is_file()]
    if len(found) != 1:
        raise _no_kit(
            f"{startup}: not a startup kit's; expected one of {', '.join(_ROLE_FILES)} in it, "
            f"found {' and '.join(found) or 'none'}"
        )
    file, role = startup / found[0], _ROLE_FILES[found[0]]
    try:
        name, host, port, scheme = _identity(role, json.loads(file.read_text(encoding="utf-8")))
    except (ValueError, KeyError, IndexError, TypeError, OSError, RecursionError) as error:
        raise _no_kit(f"{file}: damaged ({type(error).__name__}: {error}); ask for the kit again") from error
    return Kit(folder, role, name, host, port, scheme, in_docker=(startup / DOCKER_START).is_file())


def refuse_other_site(kit: Kit, config: SiteConfig) -> None:
    """One hospital's settings in another's kit would train on the wrong data under the wrong name.

    Raises:
        WardroundError: the kit is not of the site that the settings name.
    """
    if config.name != kit.name:
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            f"{config.source}: name: expected {kit.name!r}, whose kit {kit.folder} is, found {config.name!r}",
        )


def _identity(role: str, settings: dict[str, Any]) -> tuple[str, str, int, str]:
    if role == "admin":
        admin = settings["admin"]
        return str(admin["username"]), str(admin["host"]), int(admin["port"]), str(admin["scheme"])
    server = settings["servers"][0]
    host, _, port = str(server["service"]["target"]).rpartition(":")
    name = settings["client"]["fqsn"] if role == "site" else server["admin_server"]
    if not 0 < int(port) < _PORTS:
        raise ValueError(f"port {port}")
    return str(name), host, int(port), str(server["service"]["scheme"])


def _no_kit(message: str) -> WardroundError:
    return WardroundError(Reason.ENVIRONMENT_INVALID, message)
