"""The disclosure gate: every number, name and text that a site answers with passes it, and only then becomes a message.

It guards numbers and texts. It does not look at weights, and promises nothing of them.
"""

import logging
from dataclasses import dataclass

from wardround.records.changed import changed
from wardround.records.disclosure import Disclosure
from wardround.records.orders import Reply
from wardround.records.reasons import Reason
from wardround.records.update import TrainingReport
from wardround.records.words import PHASES, UNLISTED
from wardround.site.guarded_counts import guard_manifest
from wardround.site.guarded_figures import guard_alerts, guard_cohorts, guard_records
from wardround.site.guarded_sums import guard_sums
from wardround.workloads.words import Words

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Cleared:
    """A reply that has passed the gate. A message is made of nothing else."""

    reply: Reply


def guard(reply: Reply, rules: Disclosure, words: Words) -> Cleared:
    """Passes, bands, rounds or holds back whatever a reply holds.

    - A figure leaves where its patients are known to be `minimum_patients` at least, a part of a division (a cohort, an
      alert's line, a sum) where they are `minimum_cell`. What is held back is told by name with the status
      `suppressed`, never as 0 and never without a word; what would give it away by subtraction goes with it.
    - Counts of what was left out are told as a range where they are small, and their total then too.
    - A site of fewer training patients than `minimum_patients` takes no part: its weight would tell their number, and
      its update rests on them.
    - A name or a text that is none of `words` stays here. A note says that there was one.

    Args:
        reply: as the site's tasks gave it.
        rules: of the site's own site.yaml.
        words: of the study.
    """
    if reply.error is not None:
        return refused(reply.error)
    if _patients(reply) < rules.minimum_patients:
        _log.warning("fewer training patients than disclosure.minimum_patients %d", rules.minimum_patients)
        return refused(Reason.TOO_FEW_PATIENTS)
    records = guard_records(reply.records, rules, words)
    sums = guard_sums(reply.tallies, rules, words)
    cohorts = guard_cohorts(reply.cohorts, rules, words)
    alerts = guard_alerts(reply.alerts, rules, words)
    manifest = guard_manifest(reply.manifest, rules, words) if reply.manifest else None
    notes = [word for word in reply.notes if words.knows_code(word)]
    unlisted = [
        *(word for word in reply.notes if word not in notes),
        *(word for word in reply.suppressed if not words.knows_sum(word)),
        *(name for part in (records, cohorts, alerts, sums, manifest) if part for name in part.unlisted),
    ]
    for name in [*sums.suppressed, *((*manifest.passed.suppressed, *manifest.suppressed) if manifest else ())]:
        _log.info("%s: held back by the site's disclosure rules", name)
    for name in unlisted:
        _log.error("%r is none of the study's words, so it was not sent", name)
    return Cleared(
        Reply(
            manifest=manifest.passed if manifest else None,
            report=_report(reply.report, rules) if reply.report else None,
            records=records.passed,
            tallies=[changed(tally, support=None) for tally in sums.passed],
            cohorts=cohorts.passed,
            alerts=alerts.passed,
            notes=[*notes, UNLISTED] if unlisted else notes,
            suppressed=sorted({word for word in reply.suppressed if words.knows_sum(word)} | set(sums.suppressed)),
        )
    )


def refused(reason: Reason) -> Cleared:
    """A failure: its code, and nothing else."""
    return Cleared(Reply(error=reason))


def _patients(reply: Reply) -> float:
    """The fewest training patients that the reply tells of; no bound where it tells of none or none is trained on."""
    told = [float("inf")]
    if reply.report is not None:
        told.append(reply.report.patients)
    if reply.manifest is not None and reply.manifest.role == "train":
        told.append(reply.manifest.counts.get("train_patients", 0))
    return min(told)


def _report(report: TrainingReport, rules: Disclosure) -> TrainingReport:
    return changed(
        report,
        patients=rules.stepped(report.patients),
        loss=None if report.loss is None else rules.rounded(report.loss),
        moved=rules.rounded(report.moved),
        proximal_pull=rules.rounded(report.proximal_pull),
        gradient_norm=None if report.gradient_norm is None else rules.rounded(report.gradient_norm),
        proximal_gradient_norm=rules.rounded(report.proximal_gradient_norm),
        seconds={name: round(value, 3) for name, value in report.seconds.items() if name in PHASES},
    )
