"""A site's steps on its own batches: those of a round, and those of fine-tuning."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from wardround.learners.checkpoint import weights_sha256
from wardround.learners.correction import Correction
from wardround.learners.optimizer import learning_rate, make_optimizer
from wardround.learners.paused_round import Start
from wardround.learners.pausing import Pauses, Pausing
from wardround.learners.seeds import seed_of, seeded
from wardround.learners.steps import StepReport, StepSettings, run_steps
from wardround.records.study import Study
from wardround.workloads.site_data import SiteData


class LocalSteps:
    """Makes steps as the study's `training` section says.

    Args:
        network: trained in place, on `device`.
        criterion: its loss.
        data: gives the batches.
        study: the whole job.yaml.
        site: this site's name, part of every seed.
        device: where steps are made.
    """

    def __init__(
        self, network: nn.Module, criterion: nn.Module, data: SiteData, study: Study, *, site: str, device: torch.device
    ) -> None:
        self._network, self._criterion = network, criterion.to(device)
        self._data, self._study, self._site, self._device = data, study, site, device

    @property
    def in_a_round(self) -> int:
        """How many a round has: the study's number, or that of its passes over the site's training cases."""
        training = self._study.training
        if training.local_steps is not None:
            return training.local_steps
        assert training.local_epochs is not None
        return training.local_epochs * self._data.steps_per_epoch(training.batch_size)

    def make(
        self,
        purpose: str,
        round_index: int,
        steps: int,
        correction: Correction | None = None,
        measured: Sequence[Tensor] = (),
        pauses: Pauses | None = None,
    ) -> StepReport:
        """Makes `steps`, with batches that are a function of study, site, `purpose` and round; see `run_steps`.

        Args:
            purpose: `train` or `personalise`.
            round_index: decides the learning rate too.
            steps: how many.
            correction: what to add to the gradient.
            measured: parameters over which the last step's gradient norm is told.
            pauses: where and when the steps may be paused; by default they may not.
        """
        training = self._study.training
        trainable = [parameter for parameter in self._network.parameters() if parameter.requires_grad]
        seed = seed_of(self._study.name, self._study.seed, self._site, purpose, round_index)
        pausing = None if pauses is None else self._pausing(pauses, purpose, round_index, steps)
        with seeded(seed, self._device) as generator:
            report = run_steps(
                self._network,
                self._criterion,
                self._data.batches(training.batch_size, generator),
                steps,
                make_optimizer(training, trainable, learning_rate(training, round_index)),
                StepSettings(training.clip_norm, training.mixed_precision, training.bad_steps_limit),
                device=self._device,
                correction=correction,
                measured=measured,
                pausing=pausing,
            )
        if pausing:
            pausing.done()
        return report

    def _pausing(self, pauses: Pauses, purpose: str, round_index: int, steps: int) -> Pausing:
        start = Start(
            study_digest=self._study.digest(),
            site=self._site,
            purpose=purpose,
            round=round_index,
            steps=steps,
            cases_sha256=self._data.cases_sha256,
            weights_sha256=weights_sha256(self._network.state_dict()),
        )
        return pauses.begin(start)
