"""What stands first, as data: what each hospital gained over its own data alone."""

from dataclasses import dataclass

from wardround.records.arms import ALONE, BEST, PERSONALISED, POOLED, alone_at, is_alone
from wardround.records.metric_record import MetricRecord
from wardround.reporting.model import Comparison, SiteFacts, Summary

FEDERATED_ARM = BEST


@dataclass(frozen=True)
class Gain:
    """One hospital's line of the answer.

    Args:
        mark: see `SiteFacts.mark`.
        federated, alone, pooled, personalised: test records of the key metric, None where not scored.
        comparison: federated minus the hospital's own model, paired by case; None where not computed.
        others: at an outside hospital, federated minus each training hospital's own model.
        notes: coded remarks of the federated score, such as whose statistics it was scored with.
        fine_tuning_kept: whether fine-tuning changed the model here; None where there was none.
        neighbours: values here of the other hospitals' own models, lowest first.
        verdict: `better`, `worse`, `not_shown`, `too_few`, `unknown`; `outside` for a hospital that does not train.
    """

    site: str
    mark: str
    role: str
    federated: MetricRecord | None
    alone: MetricRecord | None
    pooled: MetricRecord | None
    personalised: MetricRecord | None
    comparison: Comparison | None
    others: list[Comparison]
    notes: list[str]
    fine_tuning_kept: bool | None
    neighbours: list[float]
    verdict: str


def gains(summary: Summary) -> list[Gain]:
    """One entry a site, in the summary's order. A site that gains nothing is listed like the others."""
    return [_gain(summary, facts) for facts in summary.sites]


def _gain(summary: Summary, facts: SiteFacts) -> Gain:
    site = facts.name
    key = summary.study.key_metric
    comparison = next(
        (
            row
            for row in summary.comparisons
            if (row.arm, row.reference, row.site, row.metric) == (FEDERATED_ARM, alone_at(site), site, key)
        ),
        None,
    )
    neighbours = [
        row.records[key].value
        for row in summary.table
        if row.site == site and is_alone(row.arm) and not row.at_home and key in row.records
    ]
    return Gain(
        site=site,
        mark=facts.mark,
        role=facts.role,
        federated=summary.records_at(FEDERATED_ARM, site).get(key),
        alone=summary.records_at(ALONE, site).get(key),
        pooled=summary.records_at(POOLED, site).get(key),
        personalised=summary.records_at(PERSONALISED, site).get(key),
        comparison=comparison,
        others=[
            row
            for row in summary.comparisons
            if (row.arm, row.site, row.metric) == (FEDERATED_ARM, site, key)
            and is_alone(row.reference)
            and row is not comparison
        ],
        notes=_notes(summary, FEDERATED_ARM, site),
        fine_tuning_kept=summary.fine_tuning_kept(site),
        neighbours=sorted(value for value in neighbours if value is not None),
        verdict="outside" if facts.role != "train" else comparison.verdict if comparison else "unknown",
    )


def _notes(summary: Summary, arm: str, site: str) -> list[str]:
    return next((row.notes for row in summary.table if (row.arm, row.site) == (arm, site)), [])
