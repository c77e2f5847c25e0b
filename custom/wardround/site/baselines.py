"""What the federation is compared with: each hospital alone, and all data in one place."""

from collections.abc import Callable, Sequence
from pathlib import Path

from wardround.records.arms import POOLED, alone_at
from wardround.records.reasons import Reason, WardroundError
from wardround.records.run_lines import RunLine
from wardround.records.study import Study
from wardround.site.arm_rounds import Arm
from wardround.site.baseline_arm import Opener, train_and_score
from wardround.site.config import SiteConfig
from wardround.site.consent import require_consent
from wardround.site.open_site import open_site
from wardround.site.processes import Task, run_side_by_side


def run_baselines(
    study: Study,
    configs: Sequence[SiteConfig],
    *,
    run: str,
    out: Path,
    on_line: Callable[[RunLine], None],
    opener: Opener = open_site,
) -> None:
    """Trains and scores all baselines, side by side, through the federation's own `Learner`.

    `alone:<site>` makes the site's local steps each round, `pooled` those of all sites together; both run all rounds,
    choose among them by the study's key metric on the validation cases of the sites that they train on, and are scored
    on every site's test cases. It needs all sites' data on this machine, so it is for generated or public data.

    Args:
        study: the federation's.
        configs: every site, with role `train` or `evaluate`.
        run: the run's name: per-case scores go to `<state_folder>/<run>/cases`.
        out: the run's folder: models go to `models/<arm>`.
        on_line: takes each `BaselineRoundLine` as its round ends, and each `ScoreLine`.
        opener: how a site is opened (a module-level function, since each arm has its own process).

    Raises:
        WardroundError: no site trains; or an arm failed, named in the message. No process outlives the call.
    """
    arms = baseline_arms(configs)
    for config in configs:  # a hospital that has not agreed to the study is part of none of its models
        require_consent(study, config)
    tasks = [Task(arm.name, train_and_score, (arm, study, list(configs), run, out, opener)) for arm in arms]
    run_side_by_side(tasks, on_line)


def baseline_arms(configs: Sequence[SiteConfig]) -> list[Arm]:
    """Pooled first, since it takes longest; not with one training site, where it is that site alone."""
    sites = tuple(config.name for config in configs if config.role == "train")
    if not sites:
        raise WardroundError(Reason.CONFIGURATION_INVALID, "baselines: no site has role train; give at least one")
    by_site = [Arm(alone_at(site), (site,)) for site in sites]
    return [Arm(POOLED, sites), *by_site] if len(sites) > 1 else by_site
