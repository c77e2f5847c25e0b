"""FedProx: a pull towards the global model."""

from wardround.learners.correction import Correction, ProximalCorrection
from wardround.learners.learner import Learner


class FedProxLearner(Learner):
    """FedAvg's learner with mu/2 ||w - w_global||^2 over the shared trainable entries (Li et al., MLSys 2020)."""

    def correction(self) -> Correction:
        """The proximal term with the study's mu."""
        return ProximalCorrection(self.study.algorithm.mu)
