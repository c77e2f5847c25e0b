"""A site as its site.yaml and a study describe it, opened."""

from dataclasses import dataclass

from wardround.learners.learner import Learner
from wardround.learners.local_state import KeptEntries, LocalState
from wardround.learners.make import make_learner
from wardround.records.study import Study
from wardround.site.config import SiteConfig
from wardround.workloads.progress import Progress, unseen
from wardround.workloads.registry import make_workload
from wardround.workloads.site_data import SiteData
from wardround.workloads.workload import Workload


@dataclass(frozen=True)
class OpenSite:
    """A study's workload and one site's cases."""

    workload: Workload
    data: SiteData


def open_site(study: Study, config: SiteConfig) -> OpenSite:
    """Builds the workload and reads the site's data.

    Raises:
        WardroundError: the settings do not fit, or the data cannot be used.
    """
    workload = make_workload(study)
    return OpenSite(workload, read_data(workload, study, config))


def read_data(
    workload: Workload, study: Study, config: SiteConfig, *, progress: Progress = unseen, threads: int = 1
) -> SiteData:
    """The site's cases, opened by the study's own workload.

    Args:
        workload: the study's.
        study: whose contract the data must meet.
        config: the site's.
        progress: is told how far reading has come.
        threads: how many may read at once.

    Raises:
        WardroundError: as `open_site`.
    """
    kind = study.workload["kind"]
    return workload.open_site(
        config.section(kind, study.name),
        cache=config.cache_folder,
        disclosure=config.disclosure,
        where=config.section_name(kind, study.name),
        progress=progress,
        threads=threads,
    )


def open_learner(study: Study, config: SiteConfig, *, run: str) -> Learner:
    """The learner that the study asks for, on the site's data and device; its kept entries live in the state folder.

    Raises:
        WardroundError: as `open_site`, or the state folder holds another run's entries.
    """
    site = open_site(study, config)
    return make_learner(
        site.workload,
        site.data,
        study,
        site=config.name,
        run=run,
        state=open_state(study, config, run=run),
        device=config.device,
    )


def open_state(study: Study, config: SiteConfig, *, run: str) -> KeptEntries:
    """Where the site's kept entries live: `<state_folder>/<run>/kept`, or nowhere if the algorithm keeps none."""
    if not study.algorithm.keeps_entries:
        return KeptEntries()
    owner = {
        "run": run,
        "site": config.name,
        "study_digest": study.lasting_digest(),
        "algorithm": f"{study.algorithm.kind} {study.algorithm.keep_local}",
    }
    return LocalState(config.state_folder / run / "kept", owner)
