"""Whether the federation's model got worse at this site, on the same validation cases, by more than chance allows."""

import logging
from math import ceil
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from wardround.metrics.paired_change import PairedChange
from wardround.records.disclosure import Disclosure
from wardround.records.files import private_folder, write_whole
from wardround.records.reasons import Reason
from wardround.records.scores import CaseScore, Scores
from wardround.records.study import Study
from wardround.workloads.workload import Workload

_log = logging.getLogger(__name__)
FALSE_ALARMS = 0.05
"""Of a whole run at one site: the chance of any flag where no model is worse than the one before."""

_FILE = "validation_looks.json"


class _Look(BaseModel):
    """Validation scores by case of the model after `model_round` rounds. They name cases, so they stay here."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model_round: int
    cases: list[CaseScore]


_LOOKS = TypeAdapter(list[_Look])


class ValidationDrift:
    """Compares each round's received model, and the last one, with the one that was validated before it.

    Two figures are looked at: the study's key metric, and where the workload has one its measure of calibration. One
    is flagged where it is worse by more than half its paired interval, whose level is Bonferroni's for all looks of
    the run at this site, the last model's among them,

        level = 1 - 0.05 / (figures validated rounds),

    so that a run in which nothing gets worse raises a flag at one site in forty: the interval has two ends, and only
    the worse one counts. A figure that gets better raises none. The last two looks are kept on disk, so that a new
    process goes on, and a round that is done again is compared with what came before it.

    Args:
        study: names the key metric and counts the looks.
        workload: makes the comparison.
        folder: the site's `<state_folder>/<run>`.
        rules: a flag rests on `minimum_patients` at least.
    """

    def __init__(self, study: Study, workload: Workload, folder: Path, rules: Disclosure) -> None:
        self._study, self._workload, self._rules = study, workload, rules
        self._file = folder / _FILE
        self._looks = _read(self._file)
        key = study.evaluation.key_metric
        self._watched = {key: (Reason.KEY_FIGURE_WORSE, study.evaluation.key_metric_mode == "max")}
        if workload.calibration_metric and workload.calibration_metric != key:
            self._watched[workload.calibration_metric] = Reason.CALIBRATION_WORSE, False

    @property
    def level(self) -> float:
        """Of one interval."""
        validated = ceil(self._study.training.rounds / self._study.evaluation.evaluate_every)
        return 1 - FALSE_ALARMS / (len(self._watched) * validated)  # the first has none before it, the last model has

    def look(self, model_round: int, scores: Scores) -> list[Reason]:
        """Takes a model's validation scores, and gives a code for each figure that is worse than in the look before.

        Args:
            model_round: rounds of training behind the model.
            scores: by case.
        """
        earlier = [look for look in self._looks if look.model_round < model_round]
        self._keep([*earlier[-1:], _Look(model_round=model_round, cases=scores.cases)])
        if not earlier or not _of_same_cases(scores.cases, earlier[-1].cases):
            return []
        changes = self._workload.changes(
            tuple(self._watched), scores.cases, earlier[-1].cases, seed=self._study.seed + model_round
        )
        return [self._watched[change.name][0] for change in changes if self._is_worse(change, model_round)]

    def _is_worse(self, change: PairedChange, model_round: int) -> bool:
        if change.patients < self._rules.minimum_patients:
            return False
        higher_is_better = self._watched[change.name][1]
        loss = -change.difference if higher_is_better else change.difference
        allowed = change.allowance(self.level)
        if not loss > allowed:
            return False
        _log.warning(
            "the model after %d rounds is worse here than the one before: %s by %.4g, of which chance explains %.4g "
            "(paired interval of level %.5f)",
            model_round,
            change.name,
            loss,
            allowed,
            self.level,
        )
        return True

    def _keep(self, looks: list[_Look]) -> None:
        self._looks = looks
        try:
            private_folder(self._file.parent)
            write_whole(self._file, _LOOKS.dump_json(looks), private=True)
        except OSError as error:
            _log.warning("%s: %s; a new process will have nothing to compare with", self._file, error.strerror)


def _of_same_cases(ours: list[CaseScore], theirs: list[CaseScore]) -> bool:
    return {score.case for score in ours} == {score.case for score in theirs}


def _read(file: Path) -> list[_Look]:
    try:
        return _LOOKS.validate_json(file.read_bytes())
    except FileNotFoundError:
        return []
    except (OSError, ValidationError) as error:
        _log.warning("%s: cannot be read, so the next model is compared with none: %s", file, error)
        return []
