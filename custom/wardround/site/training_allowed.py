"""Whether a hospital lets itself be learned from in a study: its own checks, whatever the order says."""

from collections.abc import Callable

from wardround.records.reasons import Reason, WardroundError
from wardround.records.study import Study
from wardround.site.config import SiteConfig
from wardround.site.safe_quorum import refuse_small_quorum


def refuse_training(study: Study, config: SiteConfig, patients: Callable[[], int]) -> None:
    """For every task and arm that learns from this site's patients: figures tell of them where no weights leave.

    Args:
        study, config: what would be learned, and where.
        patients: counts the training patients, which opens the data; asked last.

    Raises:
        WardroundError: an outside hospital, a quorum that is too small, or too few patients.
    """
    if config.role != "train":
        raise WardroundError(Reason.CONFIGURATION_INVALID, f"role {config.role}: this site is never trained on")
    refuse_unsafe_quorum(study, config)
    least = config.disclosure.minimum_patients
    if (found := patients()) < least:
        raise WardroundError(
            Reason.TOO_FEW_PATIENTS,
            f"{found} training patients, below disclosure.minimum_patients {least}: this site is not trained on",
        )


def refuse_unsafe_quorum(study: Study, config: SiteConfig) -> None:
    """The hospital's own check: a job reaches it past every check of the command line's.

    Raises:
        WardroundError: a round could combine two hospitals, of which each could work out the other's update.
    """
    if config.role == "train" and not config.synthetic:
        refuse_small_quorum(study)
