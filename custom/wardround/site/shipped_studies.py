"""Which studies a site's settings are for, where nobody names one."""

from pathlib import Path

from wardround.site.config import SiteConfig


def shipped_studies(config: SiteConfig) -> list[Path]:
    """Those below `jobs/`, in the folder where this is asked, that are named as the data in site.yaml."""
    return [folder for kind in config.data if ((folder := Path("jobs") / kind) / "job.yaml").is_file()]
