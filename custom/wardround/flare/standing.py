"""Where a run stands between two rounds: the best model so far, and who contributed how often. Kept on disk."""

import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from torch import Tensor

from wardround import __version__
from wardround.flare.persistor import CheckpointPersistor
from wardround.flare.selector import FixedSitesSelector
from wardround.flare.server_checkpoint import ServerCheckpoint
from wardround.flare.undefined_key import UndefinedKey
from wardround.records.arms import BEST, LAST
from wardround.records.metric_record import MetricRecord
from wardround.records.reasons import Reason, WardroundError
from wardround.records.run_lines import RoundLine
from wardround.records.server_state import ServerState, StoredFile

if TYPE_CHECKING:
    from wardround.flare.controller import RoundController

_log = logging.getLogger(__name__)


class Standing:
    """What a later job of the same run has to know, and its checkpoints."""

    def __init__(
        self, controller: "RoundController", persistor: CheckpointPersistor, selector: FixedSitesSelector
    ) -> None:
        self._controller, self._persistor, self._selector = controller, persistor, selector
        self._expected: Counter[str] = Counter()
        self._contributed: Counter[str] = Counter()
        self._undefined = UndefinedKey(controller.study.evaluation.key_metric)
        self.best: tuple[int, dict[str, Tensor]] | None = None

    def count(self, expected: Iterable[str], contributed: Iterable[str]) -> None:
        """Takes one round's sites."""
        self._expected.update(list(expected))  # of a mapping, a Counter would add up values
        self._contributed.update(list(contributed))

    def seldom(self) -> dict[str, Reason]:
        """Sites that the result hardly rests on: accepted in no round, or in fewer than half of those they were in."""
        return {
            site: Reason.RARELY_CONTRIBUTED if self._contributed[site] else Reason.NEVER_CONTRIBUTED
            for site, rounds in sorted(self._expected.items())
            if 2 * self._contributed[site] < rounds
        }

    def look(self, site: str, records: Sequence[MetricRecord]) -> None:
        """Takes a site's validation records; see `UndefinedKey`."""
        self._undefined.look(site, records)

    def why_none(self) -> str:
        """What to add where no round could be chosen; see `UndefinedKey`."""
        return self._undefined.explanation()

    def add_scores(self, model_round: int, values: Mapping[str, float | None], shared: Mapping[str, Tensor]) -> None:
        """Lets one model compete; where it leads now, it is kept."""
        if self._selector.add(model_round, dict(values)) == model_round:
            self.keep_best(model_round, shared)

    def keep_best(self, model_round: int, shared: Mapping[str, Tensor]) -> None:
        """Stores a model as the best so far."""
        self.best = model_round, dict(shared)
        self._persistor.store(BEST, self.best[1], model_round)

    def save(self, rounds_done: int, model: Mapping[str, Tensor], line: RoundLine | None = None) -> bool:
        """Writes a checkpoint.

        Args:
            rounds_done: how many rounds are behind `model`, with which the next one begins.
            model: shared entries.
            line: the last round's, which is not in the record yet.

        Returns:
            False where it could not be written, or models/ could not: the checkpoint before is as good as it was.
        """
        try:
            self._persistor.writer.write(
                lambda files: self._state(rounds_done, files),
                rounds_done=rounds_done,
                model=model,
                best=self.best,
                record=self._controller.record.content(line),
            )
        except OSError as error:
            _log.error(
                "checkpoint after round %d: %s: %s; the one before stays good, and the run goes on",
                rounds_done,
                self._persistor.writer.folder,
                error.strerror,
            )
            return False
        return not self._persistor.unwritten

    def forget_checkpoints(self) -> None:
        """A run that is complete has nothing to go on with."""
        self._persistor.writer.remove()

    def keep_models(self, last: Mapping[str, Tensor]) -> None:
        """At the end, what could not be written before is tried once more.

        Raises:
            WardroundError: it still cannot be written, so there is no result.
        """
        assert self.best is not None
        for name, tensors, model_round in (
            (LAST, dict(last), self._controller.num_rounds),
            (BEST, self.best[1], self.best[0]),
        ):
            if name in self._persistor.unwritten:
                self._persistor.store(name, tensors, model_round)
        if self._persistor.unwritten:
            raise WardroundError(
                Reason.ENVIRONMENT_INVALID,
                f"models: {', '.join(sorted(self._persistor.unwritten))} could not be written at the server; make room "
                "on its disk, then let the run go on from its checkpoint",
            )

    def restore(self, earlier: ServerCheckpoint, left_out: Iterable[str]) -> None:
        """Goes on where an earlier job stood.

        Where sites are left out from now on, the best round is chosen over the others: of the rounds before, the one
        that led competes with those to come, since it is the only one whose model is kept.
        """
        state, rules = earlier.state, self._controller.study.evaluation
        self._expected, self._contributed = Counter(state.expected), Counter(state.contributed)
        self._undefined.restore(state.undefined_key, state.defined_there)
        gone = set(left_out) & set(state.fixed_sites)
        scores = {index: one for index, one in state.scores.items() if not gone or index == state.best_round}
        sites = tuple(site for site in state.fixed_sites if site not in gone)
        self._selector.restore(rules, sites, scores)
        if earlier.best is not None and state.best_round is not None:
            self.keep_best(state.best_round, earlier.best)

    def _state(self, rounds_done: int, files: Mapping[str, StoredFile]) -> ServerState:
        controller = self._controller
        return ServerState(
            wardround=__version__,
            run=controller.run_id(),
            environment=controller.environment,
            study=controller.study.model_dump(mode="json"),
            study_digest=controller.study.digest(),
            rounds_done=rounds_done,
            best_round=self.best[0] if self.best else None,
            fixed_sites=self._selector.sites,
            scores=self._selector.scores,
            acknowledged=dict(controller.acknowledged),
            expected=dict(self._expected),
            contributed=dict(self._contributed),
            partial=controller.record.partial,
            undefined_key=self._undefined.reasons,
            defined_there=self._undefined.defined_there,
            manifests=[manifest for _, manifest in sorted(controller.enrolled.manifests.items())],
            missing=dict(controller.enrolled.missing),
            seconds=controller.record.seconds,
            model=files["model"],
            best=files.get("best"),
            optimiser=files.get("optimiser"),
            record=files["record"],
        )
