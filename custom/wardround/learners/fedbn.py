"""FedBN: BatchNorm stays at the site."""

from wardround.learners.fedprox import FedProxLearner
from wardround.learners.learner import Learner
from wardround.learners.sharing import KeepBatchNorm, Sharing


class FedBNLearner(Learner):
    """FedAvg's learner whose BatchNorm layers (or, `silobn`, their statistics) never leave (Li et al., ICLR 2021)."""

    def sharing(self) -> Sharing:
        """All but BatchNorm, as the study's `keep_local` says."""
        return KeepBatchNorm(statistics_only=self.study.algorithm.keep_local == "silobn")


class FedProxFedBNLearner(FedProxLearner, FedBNLearner):
    """Both: the proximal term covers what is shared."""
