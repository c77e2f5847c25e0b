"""Which of a site's figures may leave it: of a split, of parts of its patients, and of alert thresholds."""

from collections.abc import Sequence

from wardround.records.alerts import AlertRow
from wardround.records.changed import changed
from wardround.records.disclosure import Disclosure
from wardround.records.metric_record import BELOW_MINIMUM_CELL, MetricRecord, Status, suppressed
from wardround.records.scores import Cohort
from wardround.records.words import BELOW_MINIMUM_PATIENTS, NOT_ALLOWED, UNLISTED
from wardround.site.guarded import Guarded
from wardround.workloads.words import Words

COHORTS, ALERTS = "cohorts", "alerts"
"""What `disclosure.allowed` calls them."""
COMPLEMENTARY = "complementary"


def guard_records(records: Sequence[MetricRecord], rules: Disclosure, words: Words) -> Guarded[list[MetricRecord]]:
    """Figures of a whole split."""
    known = [record for record in records if record.name in words.figures]
    passed = [_figure(record, rules, words, rules.minimum_patients, BELOW_MINIMUM_PATIENTS) for record in known]
    return Guarded(passed, unlisted=_unlisted(records, words))


def guard_cohorts(cohorts: Sequence[Cohort], rules: Disclosure, words: Words) -> Guarded[list[Cohort]]:
    """Figures of parts of the patients.

    A part is told whole or not at all. The workload knows who is in which part, and holds back what would give a small
    one away; where the gate has to hold back one more, it holds back the smallest others of that division too, until
    those that it hides are enough together.
    """
    known = [cohort for cohort in cohorts if cohort.value in words.cohorts.get(cohort.name, ())]
    unlisted = [cohort.value for cohort in cohorts if cohort not in known]
    hidden = _hidden(known, rules)
    passed = []
    for place, cohort in enumerate(known):
        names = [record for record in cohort.records if record.name in words.figures]
        unlisted += _unlisted(cohort.records, words)
        reason = NOT_ALLOWED if not rules.allows(COHORTS) else hidden.get(place)
        told = [
            suppressed(record.name, reason)
            if reason
            else _figure(record, rules, words, rules.minimum_cell, BELOW_MINIMUM_CELL)
            for record in names
        ]
        passed.append(changed(cohort, records=told))
    return Guarded(passed, unlisted=unlisted)


def guard_alerts(rows: Sequence[AlertRow], rules: Disclosure, words: Words) -> Guarded[list[AlertRow]]:
    """Lines of an alert table. A line's figures are shares of one table of four counts, so they go or stay together."""
    passed, unlisted = [], []
    for row in rows:
        unlisted += _unlisted(row.records, words)
        records = [record for record in row.records if record.name in words.figures]
        few = any(_few(record, rules.minimum_cell) for record in records)
        reason = NOT_ALLOWED if not rules.allows(ALERTS) else BELOW_MINIMUM_CELL if few else None
        told = [
            suppressed(record.name, reason)
            if reason
            else _figure(record, rules, words, rules.minimum_cell, BELOW_MINIMUM_CELL)
            for record in records
        ]
        passed.append(changed(row, records=told, reason=_word(row.reason, words)))
    return Guarded(passed, unlisted=unlisted)


def _figure(record: MetricRecord, rules: Disclosure, words: Words, least: int, below: str) -> MetricRecord:
    if record.status is Status.SUPPRESSED:
        return suppressed(record.name, _word(record.reason, words) or below)
    if not rules.allows(record.name):
        return suppressed(record.name, NOT_ALLOWED)
    if _few(record, least):
        return suppressed(record.name, below)
    # an interval over few is made of single patients: of three, 4 % of the resamples hold one of them alone
    bounds = record.interval if record.support is not None and record.support >= rules.minimum_cell else None
    return changed(
        record,
        value=None if record.value is None else rules.rounded(record.value),
        n=rules.stepped(record.n),
        n_positive=None if record.n_positive is None else rules.stepped(record.n_positive),
        reason=_word(record.reason, words),
        interval=None if bounds is None else (rules.rounded(bounds[0]), rules.rounded(bounds[1])),
        support=None,
    )


def _few(record: MetricRecord, least: int) -> bool:
    """Whether too few patients stand behind a figure, or nobody knows how many; of no case there is nothing to tell."""
    if record.status is Status.SUPPRESSED or (record.n == 0 and record.value is None):
        return False
    return record.support is None or record.support < least


def _hidden(cohorts: Sequence[Cohort], rules: Disclosure) -> dict[int, str]:
    """Place of each part that the gate itself holds back, to the reason."""
    hidden: dict[int, str] = {}
    for name in {cohort.name for cohort in cohorts}:
        places = [place for place, cohort in enumerate(cohorts) if cohort.name == name]
        few = [place for place in places if any(_few(record, rules.minimum_cell) for record in cohorts[place].records)]
        hidden |= dict.fromkeys(few, BELOW_MINIMUM_CELL)
        told = [place for place in places if place not in few and not _is_hidden(cohorts[place])]
        told.sort(key=lambda place: _size(cohorts[place]))
        together = sum(_size(cohorts[place]) for place in few)
        while few and told and together < rules.minimum_cell:
            hidden[told[0]] = COMPLEMENTARY
            together += _size(cohorts[told.pop(0)])
    return hidden


def _is_hidden(cohort: Cohort) -> bool:
    return all(record.status is Status.SUPPRESSED for record in cohort.records)


def _size(cohort: Cohort) -> int:
    """Patients in the part, as far as they are known."""
    return max((record.support or 0 for record in cohort.records), default=0)


def _word(word: str | None, words: Words) -> str | None:
    return word if word is None or words.knows_code(word) else UNLISTED


def _unlisted(records: Sequence[MetricRecord], words: Words) -> list[str]:
    texts = [record.name for record in records if record.name not in words.figures]
    return texts + [record.reason for record in records if record.reason and not words.knows_code(record.reason)]
