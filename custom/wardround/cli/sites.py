"""Finding the sites of this machine."""

from pathlib import Path

from wardround.records.reasons import Reason, WardroundError
from wardround.records.study import Study

_SITES = Path("site_configs")


def sites_folder(study: Study) -> Path:
    """Where a study's sites are unless told: `site_configs/<study>` where that is there, else `site_configs`."""
    own = _SITES / study.name
    return own if own.is_dir() else _SITES


def site_files(folder: Path) -> list[Path]:
    """Each `folder/<hospital>/site.yaml`, in the order of names; a site.yaml itself or its folder is one site.

    Raises:
        WardroundError: there is none.
    """
    if folder.is_file():
        return [folder]
    if (folder / "site.yaml").is_file():
        return [folder / "site.yaml"]
    files = sorted(folder.glob("*/site.yaml"))
    if not files:
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            f"{folder}: found no <hospital>/site.yaml; name the folder of the sites with --sites, "
            "or generate one with `wardround synth`",
        )
    return files
