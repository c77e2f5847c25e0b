"""One site's part of a study: load, score, train, and hand back what may leave. No FLARE, no hospital."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter

from torch import Tensor, nn

from wardround.aggregation.norms import l2_norm
from wardround.learners.adapt import re_measure, remarks
from wardround.learners.correction import Correction, NoCorrection
from wardround.learners.devices import usable_device
from wardround.learners.initial import initial_network
from wardround.learners.live_entries import LiveEntries
from wardround.learners.local_state import KeptEntries
from wardround.learners.local_steps import LocalSteps
from wardround.learners.manifest import make_manifest
from wardround.learners.pausing import Pauses
from wardround.learners.personalise import Personalised, fine_tune
from wardround.learners.seeds import seed_of, seeded
from wardround.learners.sharing import ShareAll, Sharing
from wardround.records.declared import NOTHING_DECLARED, DeclaredData
from wardround.records.reasons import Reason, WardroundError
from wardround.records.scores import Scores, Tally
from wardround.records.study import Study, check_key_metric
from wardround.records.update import Nature, Role, SiteManifest, TrainingReport
from wardround.workloads.site_data import SiteData
from wardround.workloads.workload import Workload

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Update:
    """What leaves the site after a round: local minus received, CPU float32, shared entries only."""

    difference: dict[str, Tensor]
    report: TrainingReport


class Learner:
    """FedAvg's learner (McMahan et al., 2017), and the frame for the others, which override `correction` or `sharing`.

    A round is `load`, `validate`, `train`; after the next task has said which round the server took, `acknowledge`.

    Everything random is a function of the study's name and seed, the site and the round. On a CPU, with the same
    number of threads and the same libraries, the same inputs give the same update bit for bit, whatever ran before in
    the process. On CUDA only what is drawn repeats: its kernels may add in another order, so the last digits differ,
    and training carries that on. The run's id is not part of it, so that a study repeats; a replicate is a study with
    another seed.

    Args:
        workload, data: what is learned, and this site's cases.
        study: the whole job.yaml.
        site: this site's name.
        run: the run's name, told in the log.
        state: where kept entries live; in memory by default.
        device: `cpu`, `cuda` or `cuda:N`.

    Raises:
        WardroundError: nothing to keep local under FedBN, a bad mu, or a key metric that the workload does not report.
    """

    def __init__(
        self,
        workload: Workload,
        data: SiteData,
        study: Study,
        *,
        site: str,
        run: str,
        state: KeptEntries | None = None,
        device: str = "cpu",
    ) -> None:
        self.workload, self.data, self.study, self.site, self.run = workload, data, study, site, run
        self.device = usable_device(device)
        check_key_metric(study, workload.metric_names(), "the workload", last=workload.last_metric_names())
        for idle in study.training.idle(self.device.type):
            logger.warning("%s: %s", run, idle)
        self.network = initial_network(workload, study).to(self.device)
        self._steps = LocalSteps(self.network, workload.loss(), data, study, site=site, device=self.device)
        self._live = LiveEntries(self.network, self.sharing())
        self._correction = self.correction()
        self._state = KeptEntries() if state is None else state
        self._model_round: int | None = None
        self._lacks_own = False
        self.notes: tuple[str, ...] = ()
        if self.kept_names:
            logger.info("%s: %d entries stay at %s: %s", run, len(self.kept_names), site, ", ".join(self.kept_names))

    def correction(self) -> Correction:
        """What is added to the gradient."""
        return NoCorrection()

    def sharing(self) -> Sharing:
        """What leaves the site."""
        return ShareAll()

    @property
    def shared_names(self) -> tuple[str, ...]:
        """Entries that cross, each storage once."""
        return tuple(self._live.entries.shared)

    @property
    def kept_names(self) -> tuple[str, ...]:
        """Entries that stay by the algorithm's choice. Other integer entries (counters) never cross either."""
        return self._live.entries.kept_names

    @property
    def lacks_own_entries(self) -> bool:
        """Whether the model is a trained one for which this site has kept no entries, nor re-measured them since."""
        return self._lacks_own

    def manifest(
        self,
        role: Role,
        *,
        nature: Nature = "hospital",
        declared: DeclaredData = NOTHING_DECLARED,
        statistics: Sequence[Tally] = (),
        inputs: Sequence[Tally] = (),
    ) -> SiteManifest:
        """The answer to `prepare`; see `make_manifest`."""
        return make_manifest(
            self.workload,
            self.data,
            self.study,
            self._live.entries,
            site=self.site,
            role=role,
            nature=nature,
            declared=declared,
            statistics=statistics,
            inputs=inputs,
        )

    def load(self, shared: Mapping[str, Tensor], *, model_round: int) -> None:
        """Puts the global entries and the site's own of the newest acknowledged round <= `model_round` into place.

        A site without own entries of a trained model gets them re-measured before their first use; the initial
        model's are its own.

        Raises:
            WardroundError: names or shapes are not the network's.
        """
        own = self._state.get(model_round) if self.kept_names else None
        self._live.place(shared, own)
        self._model_round = model_round
        self._lacks_own = bool(self.kept_names) and own is None and model_round > 0
        self.notes = ()

    def validate(self) -> Scores:
        """Scores the loaded model on the site's validation cases."""
        return self.score("validation")

    def score(self, split: str, *, detail: bool = False, network: nn.Module | None = None) -> Scores:
        """Scores the model, or what `recalibrate` made of it; `notes` says if statistics were re-measured."""
        self._ready()
        return self.data.score(self.network if network is None else network, split, detail=detail)

    def train(self, round_index: int, pauses: Pauses | None = None) -> Update:
        """Trains what `load` put in place. Kept entries become pending for model round `round_index` + 1.

        Args:
            round_index: of the round.
            pauses: where and when training may be paused, to go on after the same `load` at any later time.

        Raises:
            Paused: training was stopped for now.
            WardroundError: the loss, or the update, is not finite.
        """
        self._ready()
        if self._model_round != round_index:
            raise WardroundError(
                Reason.SITE_FAILED, f"train: round {round_index} starts from its own model, found {self._model_round}"
            )
        self._model_round = None  # whatever comes of this, the next round starts from a new load
        start = perf_counter()
        parameters, received = self._live.trainable()
        self._correction.begin(parameters, received)
        report = self._steps.make("train", round_index, self._steps.in_a_round, self._correction, parameters, pauses)
        difference = self._live.difference()
        if self.kept_names:
            self._state.put(round_index + 1, self._live.entries.kept)
        return Update(
            difference,
            TrainingReport(
                steps=report.made,
                skipped_steps=report.skipped,
                patients=self.data.counts["train_patients"],
                loss=report.loss,
                moved=l2_norm(difference[name] for name in self._live.trainable_names()),
                proximal_pull=self._correction.value(),
                gradient_norm=report.gradient_norm,
                proximal_gradient_norm=report.correction_norm,
                seconds={"train": report.seconds_before + perf_counter() - start},
            ),
        )

    def acknowledge(self, round_index: int | None) -> None:
        """Says which of this site's rounds the server took last: its kept entries are committed, others discarded."""
        self._state.acknowledge(None if round_index is None else round_index + 1)

    def adapt(self) -> None:
        """Re-measures BatchNorm statistics on the site's unlabelled cases; affine values stay as they are.

        Raises:
            WardroundError: the network has no such statistics, or the site has no case.
        """
        seed = seed_of(self.study.name, self.study.seed, self.site, "adapt", 0)
        with seeded(seed, self.device) as generator:
            re_measure(self.network, self.data.unlabelled(self.study.training.batch_size, generator), self.device)
        self._lacks_own = False
        self.notes = (*self.notes, *remarks(self.data))

    def personalise(self, steps: int) -> Personalised:
        """Fine-tunes the loaded model, and keeps that only where it is better on the site's validation cases."""
        self._ready()
        evaluation = self.study.evaluation
        result = fine_tune(
            self.network,
            validate=self.validate,
            train=lambda: self._steps.make("personalise", self.study.training.rounds, steps),
            key_metric=evaluation.key_metric,
            mode=evaluation.key_metric_mode,
        )
        self._model_round = None
        self.notes = (*self.notes, result.note)
        return result

    def recalibrate(self) -> nn.Module:
        """The loaded model with its probabilities corrected on validation cases, or as it is where none is better."""
        self._ready()
        corrected = None if self.lacks_own_entries else self.data.recalibrate(self.network)
        self.notes = (*self.notes, "recalibration_kept" if corrected is not None else "recalibration_not_kept")
        return self.network if corrected is None else corrected

    def shared_entries(self) -> dict[str, Tensor]:
        """CPU float32 copies of what would cross now."""
        return self._live.shared_copies()

    def own_entries(self) -> dict[str, Tensor]:
        """CPU copies of the rest: kept entries and counters."""
        return self._live.own_copies()

    def _ready(self) -> None:
        if self._lacks_own:
            logger.info("%s: %s has no entries of its own for this model; re-measuring statistics", self.run, self.site)
            self.adapt()
