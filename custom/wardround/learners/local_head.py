"""Local head: all layers but the last are learned together, and each site keeps a last one of its own."""

from torch import Tensor, nn

from wardround.learners.learner import Learner
from wardround.learners.sharing import KeepHead, Sharing
from wardround.records.metric_record import undefined
from wardround.records.scores import Scores

NO_HEAD = "no_head_of_its_own"


class LocalHeadLearner(Learner):
    """FedAvg's learner whose last layer never leaves (FedPer, Arivazhagan et al. 2019, arXiv:1912.00818).

    Backbone and head train together in each round. A site that has no head for a trained model (an outside hospital,
    or one whose updates never counted) has nothing to predict with: unlike BatchNorm statistics a head cannot be
    measured without labels, so its figures are undefined instead of those of a random last layer. It may still
    train, from the initial head.
    """

    def sharing(self) -> Sharing:
        """All but what the workload names as head."""
        return KeepHead(self.workload.head)

    def score(self, split: str, *, detail: bool = False, network: nn.Module | None = None) -> Scores:
        """As `Learner.score`; every record undefined, and a note, where the site has no head for this model."""
        if not self.lacks_own_entries:
            return super().score(split, detail=detail, network=network)
        if NO_HEAD not in self.notes:
            self.notes = (*self.notes, NO_HEAD)
        names = (*self.workload.metric_names(), *(self.workload.last_metric_names() if detail else ()))
        return Scores(split=split, records=[undefined(name, NO_HEAD) for name in dict.fromkeys(names)])

    def own_entries(self) -> dict[str, Tensor]:
        """As `Learner.own_entries`, without a head that the site does not have: a checkpoint is then incomplete."""
        own = super().own_entries()
        return {name: t for name, t in own.items() if name not in self.kept_names} if self.lacks_own_entries else own

    def _ready(self) -> None:
        """Nothing to re-measure: training starts from the initial head."""
