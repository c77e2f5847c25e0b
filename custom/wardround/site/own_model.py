"""A hospital's own model, trained at the hospital: what the federation's is held against where no one has all data."""

from pathlib import Path

from wardround.learners.pausing import Pauses
from wardround.records.arms import alone_at
from wardround.records.metric_record import MetricRecord
from wardround.records.reasons import Reason, WardroundError
from wardround.records.run_lines import RunLine, ScoreLine
from wardround.records.study import Study
from wardround.site.arm_rounds import Arm
from wardround.site.baseline_arm import train_and_score
from wardround.site.case_store import case_file, read_case_scores
from wardround.site.config import SiteConfig
from wardround.site.open_site import OpenSite

_SPLIT = "test"


def score_own_model(study: Study, config: SiteConfig, site: OpenSite, *, run: str, pauses: Pauses) -> ScoreLine:
    """Trains the site alone, as `wardround run --baselines` does, and scores it on the site's own test cases.

    It makes as many steps as the site made in all rounds together, and validation at the site chooses among them. The
    model and its scores by case stay in the site's state folder.

    Args:
        study: the federation's.
        config, site: this hospital.
        run: the run's name.
        pauses: stop the training where the site's rules ask for it.

    Raises:
        Paused: for now.
        WardroundError: training failed.
    """
    lines: list[RunLine] = []
    name = config.name
    folder: Path = config.state_folder / run
    train_and_score(
        Arm(alone_at(name), (name,)), study, [config], run, folder, lambda *_: site, lines.append, pauses=pauses
    )
    return next(line for line in lines if isinstance(line, ScoreLine))


def compare_with_own_model(
    study: Study, config: SiteConfig, site: OpenSite, arm: str, *, run: str
) -> list[MetricRecord]:
    """The run's model `arm` minus the site's own on the same test cases, with paired 95 % intervals.

    Raises:
        WardroundError: one of the two has not been scored here.
    """
    folder = config.state_folder / run
    arms = (arm, alone_at(config.name))
    for one in arms:
        if not case_file(folder, one, _SPLIT).is_file():
            raise WardroundError(
                Reason.METRICS_MISSING, f"{folder}: {one} has not been scored here, so there is nothing to compare"
            )
    ours, theirs = (read_case_scores(folder, one, _SPLIT) for one in arms)
    return site.workload.differences(ours, theirs, seed=study.seed)
