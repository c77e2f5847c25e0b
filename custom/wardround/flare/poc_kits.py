"""The startup kits of a proof-of-concept system: the project that they come from, and what each gets of ours."""

from pathlib import Path

import yaml

from wardround.flare.kit import read_kit, refuse_other_site
from wardround.flare.policy import classes_of, write_resources
from wardround.flare.server_port import free_port
from wardround.records.files import write_whole
from wardround.site.config import SiteConfig, resolved_yaml

ADMIN = "admin@wardround.local"
PROJECT = "wardround_poc"
SERVER = "server"


def write_project(file: Path, configs: list[SiteConfig]) -> None:
    """A project with these sites on a free port, so that a busy 8002 or another POC does not matter."""
    clients = [{"name": config.name, "type": "client", "org": "hospital"} for config in configs]
    server = {"name": SERVER, "type": "server", "org": "consortium", "fed_learn_port": free_port()}
    admin = {"name": ADMIN, "type": "admin", "org": "consortium", "role": "project_admin"}
    builders = "nvflare.lighter.impl"
    project = {
        "api_version": 3,
        "name": PROJECT,
        "participants": [server, *clients, admin],
        "builders": [
            {"path": f"{builders}.workspace.WorkspaceBuilder", "args": {"template_file": ["master_template.yml"]}},
            {"path": f"{builders}.static_file.StaticFileBuilder", "args": {"config_folder": "config"}},
            {"path": f"{builders}.cert.CertBuilder"},
            {"path": f"{builders}.signature.SignatureBuilder"},
        ],
    }
    write_whole(file, yaml.safe_dump(project, sort_keys=False).encode())


def install(kit: Path, config: SiteConfig | None = None) -> list[Path]:
    """Makes a kit fit for our jobs: the class list, no log streaming, and the site's settings.

    Args:
        kit: of a server or a site.
        config: the site's settings, written with absolute paths; None for a server.

    Raises:
        WardroundError: not a startup kit, or one of another site than `config` names.
    """
    found = read_kit(kit)
    if config is not None:
        refuse_other_site(found, config)
    written = [write_resources(kit / "local", classes_of(found.role))]
    if config is not None:
        written.append(kit / "local" / "site.yaml")
        write_whole(written[-1], resolved_yaml(config).encode())
    return written
