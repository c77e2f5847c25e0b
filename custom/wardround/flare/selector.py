"""FixedSitesSelector: which round's model is best, over the same hospitals in every round."""

from collections.abc import Mapping

from nvflare.apis.fl_component import FLComponent
from nvflare.apis.fl_context import FLContext
from nvflare.app_common.app_constant import AppConstants
from nvflare.app_common.app_event_type import AppEventType

from wardround.aggregation.selection import choose_best, fixed_mean
from wardround.records.study_sections import Evaluation


class FixedSitesSelector(FLComponent):
    """Replaces FLARE's selector, which counts rejected sites and skips sites without a figure.

    A round in which one of the fixed sites has no figure cannot win: otherwise a model looks best because the
    weakest hospital was missing. The last aggregate is scored too and competes.
    """

    def __init__(self) -> None:
        super().__init__()
        self._sites: tuple[str, ...] = ()
        self._rules: Evaluation | None = None
        self._scores: dict[int, dict[str, float | None]] = {}

    def begin(self, rules: Evaluation, sites: tuple[str, ...]) -> None:
        """Fixes the metric and the sites for the whole run."""
        self._rules, self._sites, self._scores = rules, sites, {}

    @property
    def sites(self) -> tuple[str, ...]:
        """Who must have a figure for a round to be chosen."""
        return self._sites

    @property
    def scores(self) -> dict[int, dict[str, float | None]]:
        """Figures by model round and site."""
        return {index: dict(values) for index, values in self._scores.items()}

    def restore(
        self, rules: Evaluation, sites: tuple[str, ...], scores: Mapping[int, Mapping[str, float | None]]
    ) -> None:
        """Goes on with what was known before."""
        self.begin(rules, sites)
        self._scores = {index: dict(values) for index, values in scores.items()}

    def add(self, model_round: int, values: dict[str, float | None]) -> int | None:
        """Adds one model's figures by site and returns the model round that leads now, if any may."""
        assert self._rules is not None
        self._scores[model_round] = dict(values)
        return self.best()

    def best(self) -> int | None:
        """The model round that leads; the earliest of equals."""
        assert self._rules is not None
        return choose_best(self._scores, self._sites, self._rules.key_metric_mode)

    def announce(self, fl_ctx: FLContext) -> None:
        """Tells FLARE, so that its metrics_summary.json names the best round."""
        best = self.best()
        if best is None or self._rules is None:
            return
        info = {
            "source": type(self).__name__,
            "metric_source": "validation records of the fixed sites",
            "key_metric": {
                "name": self._rules.key_metric,
                "mode": self._rules.key_metric_mode,
                "mode_source": "job.yaml",
            },
            "best_round": best,
            "best_metrics": {self._rules.key_metric: fixed_mean(self._scores[best], self._sites)},
        }
        fl_ctx.set_prop(AppConstants.METRICS_SELECTION_INFO, info, private=True, sticky=False)
        self.fire_event(AppEventType.GLOBAL_BEST_MODEL_AVAILABLE, fl_ctx)
