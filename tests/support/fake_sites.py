"""What spawned processes of the tests run: found by import, so it lives in a module."""

from support.fake_workload import FakeWorkload
from wardround.records.reasons import Reason, WardroundError
from wardround.records.study import Study
from wardround.site.config import SiteConfig
from wardround.site.open_site import OpenSite


def open_fake_site(study: Study, config: SiteConfig) -> OpenSite:
    workload = FakeWorkload()
    data = workload.open_site(config.section("fake"), cache=config.cache_folder)
    return OpenSite(workload, data)


def open_scaled_site(study: Study, config: SiteConfig) -> OpenSite:
    """As `open_fake_site`, of a workload that starts from sums and has a simple model."""
    return OpenSite(FakeWorkload(scaled=True, has_reference=True), open_fake_site(study, config).data)


def open_site_with_a_broken_neighbor(study: Study, config: SiteConfig) -> OpenSite:
    if config.name == "hospital-b":
        raise WardroundError(Reason.DATA_MISSING, "case-1: no t1c")
    return open_fake_site(study, config)
