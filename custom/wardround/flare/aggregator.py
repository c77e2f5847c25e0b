"""UpdateAggregator: FLARE's aggregator with the contribution gate in front and sums in site order."""

from dataclasses import dataclass, field
from typing import Any

from nvflare.app_common.abstract.fl_model import FLModel, ParamsType
from nvflare.app_common.aggregators.model_aggregator import ModelAggregator
from nvflare.app_common.app_constant import AppConstants
from pydantic import ValidationError
from torch import Tensor

from wardround.aggregation.agreement import Agreement, agreement
from wardround.aggregation.gate import COUNT_LIMIT, Entry, as_tensors, check_update, is_no_update
from wardround.aggregation.mean import mean_figures, weighted_mean
from wardround.aggregation.norms import l2_norm
from wardround.aggregation.oversized import oversized
from wardround.aggregation.weights import effective_weights
from wardround.flare import messages
from wardround.learners.sharing import RUNNING_STATISTICS
from wardround.records.orders import Reply
from wardround.records.reasons import Reason, WardroundError
from wardround.records.study_sections import Aggregation


@dataclass
class Contributions:
    """What one round brought in: accepted updates by site, and why the others were not taken."""

    replies: dict[str, Reply] = field(default_factory=dict)
    differences: dict[str, dict[str, Tensor]] = field(default_factory=dict)
    counts: dict[str, float] = field(default_factory=dict)
    rejected: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    alarms: list[str] = field(default_factory=list)
    agreement: dict[str, Agreement] = field(default_factory=dict)

    @property
    def answered(self) -> set[str]:
        """Every site heard from, whatever it said."""
        return set(self.replies) | set(self.rejected) | set(self.failed)


class UpdateAggregator(ModelAggregator):
    """Collects one round's updates. The controller calls `begin`; FLARE calls the rest.

    `accept_model` rejects by raising, which is what makes FLARE not count a contribution; the reason is kept by
    site in `contributions`. The combination itself is `aggregation.mean`, over sites in sorted order, so that the
    result does not depend on who answered first.
    """

    def __init__(self) -> None:
        super().__init__()
        self.contributions = Contributions()
        self.weights: dict[str, float] = {}
        self._rules = Aggregation()
        self._expected: dict[str, Entry] = {}
        self._patients: dict[str, int] = {}
        self._most_steps: dict[str, int] = {}

    def begin(
        self, rules: Aggregation, expected: dict[str, Entry], patients: dict[str, int], most_steps: dict[str, int]
    ) -> None:
        """Sets what a contribution must look like: the study's rules, the entries, and what each site can count.

        Args:
            patients: site to training patients as declared; sites that are not in it are not asked.
            most_steps: site to the optimizer steps that it can make in a round.
        """
        self._rules, self._expected, self._patients, self._most_steps = rules, expected, patients, most_steps
        self.reset_stats()

    def reset_stats(self) -> None:
        """Forgets the round before."""
        self.contributions = Contributions()
        self.weights = {}

    def accept_model(self, model: FLModel) -> None:
        """Takes one site's update, or raises with the reason.

        Raises:
            WardroundError: the site failed, or its contribution does not pass the gate.
        """
        site = str((model.meta or {}).get("client_name"))
        raw = (model.meta or {}).get(messages.KEY)
        if site in self.contributions.answered or site not in self._patients:
            raise WardroundError(Reason.REPLY_INVALID, f"{site}: answered twice, or was not asked")
        try:
            reply = Reply.model_validate(raw)
        except ValidationError as error:
            raise self._reject(site, _invalid_count(error) or Reason.REPLY_INVALID) from None
        if reply.error is not None:
            self.contributions.failed[site] = reply.error
            raise WardroundError(reply.error, f"{site}: failed")
        count = _count(raw, self._rules.weighting)
        by_steps = self._rules.weighting == "steps"
        difference = as_tensors(model.params or {})
        rejection = check_update(
            difference,
            count,
            self._expected,
            self._rules.norm_limit,
            declared=None if by_steps else self._patients[site],
            limit=self._most_steps[site] if by_steps else COUNT_LIMIT,
        )
        if rejection is not None:
            raise self._reject(site, rejection.reason)
        self.contributions.replies[site] = reply
        self.contributions.differences[site] = difference
        self.contributions.counts[site] = float(count)
        if is_no_update(difference):
            self.contributions.alarms.append(f"{site}: {Reason.NO_UPDATE}")

    def settle(self) -> None:
        """Once all answers are in: takes back those that are far longer than the round's others."""
        accepted = self.contributions
        norms = {site: l2_norm(_trained(update).values()) for site, update in accepted.differences.items()}
        for site in oversized(norms, self._rules.norm_ratio_limit):
            for held in (accepted.replies, accepted.differences, accepted.counts):
                del held[site]
            accepted.rejected[site] = Reason.NORM_TOO_LARGE

    def aggregate_model(self) -> FLModel:
        """The mean difference over what was accepted; an empty one leaves the global model as it is."""
        accepted = self.contributions
        if not accepted.differences:
            return FLModel(params_type=ParamsType.DIFF, params={}, metrics={}, meta=self._meta())
        self.weights = effective_weights(accepted.counts, self._rules.weighting)
        accepted.agreement = agreement(
            {site: _trained(difference) for site, difference in accepted.differences.items()},
            self.weights,
            {site: reply.report.steps for site, reply in accepted.replies.items() if reply.report},
        )
        mean = weighted_mean(accepted.differences, self.weights)
        figures = {site: messages.metrics(reply.records) for site, reply in accepted.replies.items()}
        metrics = mean_figures(figures, self.weights)  # for FLARE's own artefacts
        return FLModel(params_type=ParamsType.DIFF, params=mean, metrics=metrics, meta=self._meta())

    def _reject(self, site: str, reason: Reason) -> WardroundError:
        self.contributions.rejected[site] = reason
        return WardroundError(reason, f"{site}: contribution rejected")

    def _meta(self) -> dict[str, Any]:
        """FLARE writes `sites` into round_metrics.jsonl; left empty, it would believe what clients call themselves."""
        sites = [
            {"name": site, "metrics": messages.metrics(reply.records), "weight": self.weights.get(site)}
            for site, reply in sorted(self.contributions.replies.items())
        ]
        return {
            AppConstants.METRICS_AGGREGATION_INFO: {
                "metric_source": "accepted_records",
                "aggregation": {"method": "weighted_mean", "weight_key": self._rules.weighting},
                "sites": sites,
                "use_contribution_sites": False,
            }
        }


def _count(raw: Any, weighting: str) -> Any:
    """The count as the site wrote it, unconverted, for the gate to judge."""
    report = raw.get("report") if isinstance(raw, dict) else None
    return report.get("steps" if weighting == "steps" else "patients") if isinstance(report, dict) else None


def _invalid_count(error: ValidationError) -> Reason | None:
    fields = {part for fault in error.errors() for part in fault["loc"]}
    return Reason.COUNT_INVALID if fields & {"patients", "steps"} else None


def _trained(difference: dict[str, Tensor]) -> dict[str, Tensor]:
    """Without running statistics, which no one trains."""
    return {name: value for name, value in difference.items() if name.rpartition(".")[2] not in RUNNING_STATISTICS}
