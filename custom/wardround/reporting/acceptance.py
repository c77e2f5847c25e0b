"""A study's criteria held against what a run's record says, and the outcome in words."""

from wardround.records.acceptance import Acceptance
from wardround.records.acceptance_outcome import (
    NOT_COMPARED,
    AcceptanceOutcome,
    CriterionOutcome,
    SiteCheck,
    check_at_site,
)
from wardround.records.arms import BEST, alone_at
from wardround.records.metric_record import MetricRecord
from wardround.reporting.measure import DASH
from wardround.reporting.model import Summary
from wardround.reporting.table import higher_is_better
from wardround.reporting.words import Words


def check_criteria(summary: Summary, arm: str = BEST) -> AcceptanceOutcome:
    """Every criterion of the study that the run began with, at every site that it is about.

    Sites that were expected and never came are about it too: a run without its largest hospital shows nothing of it.
    """
    criteria = Acceptance.model_validate(summary.study.settings.get("acceptance") or {})
    everyone = [site.name for site in summary.sites] + summary.missing
    training = summary.training_sites() + summary.missing
    outcomes = []
    for metric, limit in criteria.worst_site.items():
        higher = _higher(summary, metric)
        checks = [
            check_at_site(site, summary.records_at(arm, site).get(metric), limit, higher=higher) for site in everyone
        ]
        outcomes.append(_outcome("worst_site", metric, limit, checks, higher))
    for metric, margin in criteria.worse_than_alone.items():
        higher = _higher(summary, metric)
        checks = [
            check_at_site(
                site,
                _difference(summary, arm, site, metric),
                -margin if higher else margin,
                higher=higher,
                missing=NOT_COMPARED,
            )
            for site in training
        ]
        outcomes.append(_outcome("worse_than_alone", metric, margin, checks, higher))
    model_round = summary.ending.best_round if arm == BEST else summary.ending.last_round
    return AcceptanceOutcome(run=summary.study.run, arm=arm, model_round=model_round, criteria=outcomes)


def outcome_lines(outcome: AcceptanceOutcome, words: Words) -> list[str]:
    """A line a criterion, and below it one a site; those that are not met say what is short."""
    if not outcome.criteria:
        return ["no criterion: job.yaml had no acceptance section when the study ran, so nothing can be released"]
    lines = []
    for criterion in outcome.criteria:
        lines.append(f"{criterion_text(criterion, words)}: {'met' if criterion.met else 'NOT MET'}")
        lines += [f"  {site_text(criterion, check, words)}" for check in criterion.sites]
        if not criterion.sites:
            lines.append("  no site was scored")
    return lines


def criterion_text(criterion: CriterionOutcome, words: Words) -> str:
    """`Dice, mean of regions, at every site: at least 0.600`."""
    measure = words.measure(criterion.metric)
    limit = measure.text(criterion.limit)
    if criterion.kind == "worst_site":
        return f"{measure.title}, at every site: {'at least' if criterion.better == 'higher' else 'at most'} {limit}"
    return f"{measure.title}, against each site's own model: worse by at most {limit}"


def site_text(criterion: CriterionOutcome, check: SiteCheck, words: Words) -> str:
    """`hospital-b 0.691, 95 % interval 0.552 to 0.803, n 8: not met, judged by 0.552`."""
    measure = words.measure(criterion.metric)
    shown = measure.signed if criterion.kind == "worse_than_alone" else measure.text
    text = f"{check.site} {DASH if check.value is None else shown(check.value)}"
    if check.interval is not None:
        text += f", 95\N{NO-BREAK SPACE}% interval {shown(check.interval[0])} to {shown(check.interval[1])}"
    if check.n:
        text += f", n {check.n}" + (
            f" ({check.n_positive} positive)" if _about_outcome(check, criterion, words) else ""
        )
    if check.bound is not None:
        return f"{text}: {'met' if check.met else 'not met'}, judged by {shown(check.bound)}"
    return f"{text}: not met, {words.in_words(check.reason or '')}"


def _about_outcome(check: SiteCheck, criterion: CriterionOutcome, words: Words) -> bool:
    return check.n_positive is not None and words.measure(criterion.metric).family.counts_positives


def _outcome(kind: str, metric: str, limit: float, checks: list[SiteCheck], higher: bool) -> CriterionOutcome:
    return CriterionOutcome.model_validate(
        {"kind": kind, "metric": metric, "limit": limit, "better": "higher" if higher else "lower", "sites": checks}
    )


def _higher(summary: Summary, metric: str) -> bool:
    return higher_is_better(metric, summary.study.key_metric, summary.study.key_metric_mode, summary.words)


def _difference(summary: Summary, arm: str, site: str, metric: str) -> MetricRecord | None:
    own = alone_at(site)
    return next(
        (
            row.difference
            for row in summary.comparisons
            if (row.arm, row.reference, row.site, row.metric) == (arm, own, site, metric)
        ),
        None,
    )
