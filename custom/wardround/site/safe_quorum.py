"""How many hospitals a round must combine before a hospital's own update is hidden in the mean."""

from wardround.records.reasons import Reason, WardroundError
from wardround.records.study import Study

SAFE_QUORUM = 3  # of two contributors each can work out the other's update


def refuse_small_quorum(study: Study) -> None:
    """Refuses a study whose rounds may combine too few hospitals for patients' data.

    Raises:
        WardroundError: with the quorum that is needed.
    """
    if study.federation.quorum < SAFE_QUORUM:
        raise WardroundError(
            Reason.QUORUM_TOO_SMALL,
            f"federation.quorum: {study.federation.quorum} is too small for patients' data: of two contributors each "
            f"can work out the other's update; set {SAFE_QUORUM} or more (a site.yaml with synthetic: true accepts it)",
        )
