"""What wardround adds to a FLARE startup kit, in its `local/` folder, which belongs to the site's admin."""

from pathlib import Path

from wardround.flare.policy import write_resources
from wardround.records.reasons import Reason, WardroundError
from wardround.site.config import SiteConfig, resolved_yaml


def install(kit: Path, config: SiteConfig | None = None) -> list[Path]:
    """Writes `local/resources.json` (which classes a job may build, no log streaming) and the site's `local/site.yaml`.

    Args:
        kit: the folder that holds `startup/` and `local/`, of a server or a site.
        config: the site's settings, written with absolute paths; None for a server.

    Raises:
        WardroundError: not a startup kit, or one of another site than `config` names.
    """
    if not (kit / "startup").is_dir():
        raise WardroundError(
            Reason.ENVIRONMENT_INVALID, f"{kit}: not a startup kit; expected a folder with startup/ and local/ in it"
        )
    if config is not None and config.name != kit.name:
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            f"{config.source}: name: expected {kit.name!r} as the kit's folder, found {config.name!r}",
        )
    written = [write_resources(kit / "local")]
    if config is not None:
        written.append(kit / "local" / "site.yaml")
        written[-1].write_text(resolved_yaml(config), encoding="utf-8")
    return written
