"""The answer that stands first: what each hospital gained over its own data alone."""

from dataclasses import dataclass

from wardround.records.arms import POOLED, alone_at, is_alone
from wardround.records.metric_record import MetricRecord
from wardround.reporting.model import Comparison, Summary

FEDERATED_ARM = "best"


@dataclass(frozen=True)
class Gain:
    """One hospital's line of the answer.

    Args:
        federated, alone, pooled, personalised: test records of the key metric, None where not scored.
        comparison: federated minus the hospital's own model, paired by case; None where not computed.
        neighbours: values here of the other hospitals' own models, lowest first.
        verdict: `better`, `worse`, `not_shown`, `too_few`, `unknown`; `outside` for a hospital that does not train.
    """

    site: str
    role: str
    federated: MetricRecord | None
    alone: MetricRecord | None
    pooled: MetricRecord | None
    personalised: MetricRecord | None
    comparison: Comparison | None
    neighbours: list[float]
    verdict: str


def gains(summary: Summary) -> list[Gain]:
    """One entry a site, in the summary's order. A site that gains nothing is listed like the others."""
    return [_gain(summary, site.name, site.role) for site in summary.sites]


def answer(summary: Summary) -> str:
    """One sentence for the training hospitals."""
    training = [gain for gain in gains(summary) if gain.role == "train"]
    parts = []
    for verdict, words in (
        ("better", "better with the federated model than with {own} data alone"),
        ("worse", "worse with the federated model than with {own} data alone"),
        ("not_shown", "no gain shown: the interval of the difference includes 0"),
        ("too_few", "too few test cases to tell federated from alone"),
        ("unknown", "not compared with {own} data alone"),
    ):
        names = [gain.site for gain in training if gain.verdict == verdict]
        if names:
            parts.append(f"{_listed(names)}: {words.format(own='its own' if len(names) == 1 else 'their own')}.")
    return " ".join(parts) or "No training hospital has been scored."


def _gain(summary: Summary, site: str, role: str) -> Gain:
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
        role=role,
        federated=summary.records_at(FEDERATED_ARM, site).get(key),
        alone=summary.records_at("alone", site).get(key),
        pooled=summary.records_at(POOLED, site).get(key),
        personalised=summary.records_at("personalised", site).get(key),
        comparison=comparison,
        neighbours=sorted(value for value in neighbours if value is not None),
        verdict="outside" if role != "train" else comparison.verdict if comparison else "unknown",
    )


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
