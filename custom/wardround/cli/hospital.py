"""A hospital as its admin names it on the command line: by its startup kit, or by its site.yaml."""

from pathlib import Path
from typing import TYPE_CHECKING

from wardround.records.reasons import Reason, WardroundError

if TYPE_CHECKING:
    from wardround.flare.kit import Kit
    from wardround.site.config import SiteConfig


def hospital(site: Path) -> tuple["SiteConfig", "Kit | None"]:
    """Its settings with this machine's paths, and the kit where that was named.

    Args:
        site: the kit, the site.yaml or the folder with it.

    Raises:
        WardroundError: it is neither, or what it holds is not valid.
    """
    from wardround.site.config import load_site_config

    if (site / "startup").is_dir():
        from wardround.flare.installation import read_installation
        from wardround.flare.kit import read_kit
        from wardround.flare.preflight import host_config

        kit = read_kit(site)
        return host_config(kit, read_installation(kit.folder)), kit
    file = site / "site.yaml" if site.is_dir() else site
    if not file.is_file():
        raise WardroundError(
            Reason.CONFIGURATION_INVALID, f"{site}: expected a startup kit or a site.yaml, found neither; name one"
        )
    return load_site_config(file), None
