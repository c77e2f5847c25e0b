"""What record names, arms and codes mean to a reader of one workload's report.

Two workloads may give one code two meanings (`no_cases`: no patients, no images), so each report reads its own
workload's words first and then those that all share, never another workload's.
"""

from wardround.records.arms import is_alone, site_of
from wardround.records.metric_record import MetricRecord
from wardround.reporting.common_words import ARM_HEADS, ARMS, CODES, SHORT_ARMS
from wardround.reporting.measure import DASH, Measure, measure_of
from wardround.reporting.vocabularies import vocabulary_of
from wardround.workloads.vocabulary import Vocabulary


def words_of(kind: str) -> "Words":
    """The words of the installed workload of this kind."""
    return Words(vocabulary_of(kind))


class Words:
    """One workload's vocabulary over the common one."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self._families = {family.key: family for family in vocabulary.families}
        self._codes = {**CODES, **vocabulary.codes}
        self._arms = {**ARMS, **vocabulary.arms}
        self._short_arms = {**SHORT_ARMS, **vocabulary.short_arms}
        self._arm_heads = {**ARM_HEADS, **vocabulary.short_arms}

    def measure(self, name: str) -> Measure:
        """Reads a record name."""
        return measure_of(name, self._families)

    def title(self, name: str) -> str:
        """A record name as it is read."""
        return self.measure(name).title

    def in_words(self, code: str) -> str:
        """A coded reason or note in words; an unknown code without its underscores."""
        return self._codes.get(code, code.replace("_", " "))

    def reason_in_words(self, reason: str) -> str:
        """`site: code` or a code alone, in words."""
        site, separator, code = reason.partition(": ")
        return f"{site}: {self.in_words(code)}" if separator else self.in_words(reason)

    def arm_title(self, arm: str) -> str:
        """An arm in words; `alone:x` is hospital x's own model."""
        return f"{site_of(arm)}'s own model" if is_alone(arm) else self._arms.get(arm, arm)

    def arm_head(self, arm: str) -> str:
        """An arm as the head of a column; `alone:x` is hospital x's."""
        return f"{site_of(arm)}'s" if is_alone(arm) else self._arm_heads.get(arm, arm)

    def short_arm(self, arm: str) -> str:
        """An arm in a narrow column."""
        return f"{site_of(arm)} alone" if is_alone(arm) else self._short_arms.get(arm, arm)

    def support_text(self, record: MetricRecord) -> str:
        """`6 of 8`: of 8 cases, 6 that count; `80, 12 positive` where the metric is about an outcome."""
        if record.n_positive is not None and self.measure(record.name).family.counts_positives:
            return f"{record.n}, {record.n_positive} positive"
        partly = record.n_positive is not None and record.n_positive != record.n
        return f"{record.n_positive} of {record.n}" if partly else f"{record.n}"

    def with_interval(self, difference: MetricRecord) -> str:
        """`+0.142, 95 % interval +0.039 to +0.254`; the value alone where there is no interval."""
        if difference.value is None:
            return DASH
        found = self.measure(difference.name)
        text = found.signed(difference.value)
        if difference.interval is None:
            return text
        low, high = difference.interval
        return f"{text}, 95\N{NO-BREAK SPACE}% interval {found.signed(low)} to {found.signed(high)}"

    def interval_text(self, record: MetricRecord) -> str:
        """`0.71 to 0.84`; empty where there is no interval."""
        if record.interval is None:
            return ""
        low, high = (self.measure(record.name).text(bound) for bound in record.interval)
        return f"{low} to {high}"

    def in_reading_order(self, names: list[str]) -> list[str]:
        """By part, in its family's order; names without parts as they came, at the end."""
        found = {name: self.measure(name) for name in names}
        return sorted(names, key=lambda name: (not found[name].family.parts, found[name].position))

    def listed_by_family(self, names: list[str]) -> str:
        """`Dice (WT, TC, ET); HD95 (WT)`: many names in little room."""
        families: dict[str, list[str]] = {}
        for name in self.in_reading_order(names):
            found = self.measure(name)
            families.setdefault(found.family.title, []).extend([found.short] if found.part else [])
        return "; ".join(f"{title} ({', '.join(parts)})" if parts else title for title, parts in families.items())
