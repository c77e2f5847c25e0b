"""What record names, arms and codes mean, in a reader's words."""

from dataclasses import dataclass

from wardround.records.arms import ALONE, BEST, LAST, PERSONALISED, POOLED, RECALIBRATED, is_alone, site_of
from wardround.records.metric_record import MetricRecord
from wardround.reporting.words import ARMS, CODES, SHORT_ARMS, family_of
from wardround.workloads.vocabulary import Family

MINUS = "\N{MINUS SIGN}"  # as wide as a plus, so that columns line up
DASH = "\N{EN DASH}"  # stands where there is no figure

_ARMS = {
    BEST: "Federated, best round",
    LAST: "Federated, last round",
    PERSONALISED: "Federated, then fine-tuned at the site",
    RECALIBRATED: "Federated, with the site's own recalibration",
    ALONE: "Alone: each hospital's own data only",
    POOLED: "Pooled: all data in one place",
    **ARMS,
}
_SHORT_ARMS = {
    BEST: "federated, best",
    LAST: "federated, last",
    PERSONALISED: "federated, fine-tuned",
    RECALIBRATED: "federated, recalibrated",
    ALONE: "alone, at home",
    POOLED: "pooled",
    **SHORT_ARMS,
}
_ARM_HEADS = {
    BEST: "federated",
    LAST: "fed., last",
    PERSONALISED: "fine-tuned",
    RECALIBRATED: "recalibrated",
    ALONE: "alone",
    POOLED: "pooled",
    **SHORT_ARMS,
}
_CODES = {
    "absent": "did not join",
    "disconnected": "was not connected",
    "rarely_contributed": "contributed to fewer than half of its rounds",
    "all_rejected": "every contribution was rejected",
    "late": "answered after the deadline",
    "metrics_missing": "returned no metrics",
    "not_finite": "sent a value that is NaN or infinite",
    "norm_too_large": "sent an update larger than the study allows",
    "names_mismatch": "sent parameters of other names than agreed",
    "shape_mismatch": "sent parameters of other shapes than agreed",
    "no_update": "no update: the model is the one it received",
    "chosen_on_few_cases": "helped to choose the best round with too few validation cases to rank by",
    "quorum_too_small": "refuses to train in a study whose quorum is below three",
    "quorum_not_met": "fewer accepted contributions than the quorum",
    "statistics_re_measured": "BatchNorm statistics re-measured on the site's own unlabelled cases",
    "no_head_of_its_own": "has no head of its own, so the model has no figures here",
    "recalibration_kept": "recalibration was better on validation",
    "recalibration_not_kept": "recalibration was no better on validation, so the probabilities were left as they were",
    "fine_tuning_kept": "fine-tuning was better on validation",
    "fine_tuning_not_kept": "fine-tuning was no better on validation, so the federated model was kept",
    **CODES,
}


@dataclass(frozen=True)
class Measure:
    """One record name: its family and the part that it is about, if any."""

    name: str
    family: Family
    part: str

    @property
    def title(self) -> str:
        """Long form: `Dice, whole tumor`."""
        part = next((part.title for part in self.family.parts if part.key == self.part), self.part.replace("_", " "))
        return f"{self.family.title}, {part}" if part else self.family.title

    @property
    def short(self) -> str:
        """Column head: `WT`, or the family's title where there are no parts."""
        part = next((part.short for part in self.family.parts if part.key == self.part), self.part.replace("_", " "))
        return part or self.family.title

    @property
    def position(self) -> int:
        """Where it stands among the figures of its family."""
        keys = [part.key for part in self.family.parts]
        return keys.index(self.part) if self.part in keys else len(keys)

    def text(self, value: float) -> str:
        """The value in the family's digits."""
        return f"{value:.{self.family.digits}f}".replace("-", MINUS)

    def signed(self, value: float) -> str:
        """A difference with its sign."""
        return f"{value:+.{self.family.digits}f}".replace("-", MINUS)


def support_text(record: MetricRecord) -> str:
    """`6 of 8`: of 8 cases, 6 whose label holds the region; `80, 12 positive` where the metric is about an outcome."""
    if record.n_positive is not None and measure(record.name).family.counts_positives:
        return f"{record.n}, {record.n_positive} positive"
    partly = record.n_positive is not None and record.n_positive != record.n
    return f"{record.n_positive} of {record.n}" if partly else f"{record.n}"


def with_interval(difference: MetricRecord) -> str:
    """`+0.142, 95 % interval +0.039 to +0.254`; the value alone where there is no interval."""
    if difference.value is None:
        return DASH
    kind = measure(difference.name)
    text = kind.signed(difference.value)
    if difference.interval is None:
        return text
    low, high = difference.interval
    return f"{text}, 95\N{NO-BREAK SPACE}% interval {kind.signed(low)} to {kind.signed(high)}"


def interval_text(record: MetricRecord) -> str:
    """`0.71 to 0.84`; empty where there is no interval."""
    if record.interval is None:
        return ""
    low, high = record.interval
    return f"{measure(record.name).text(low)} to {measure(record.name).text(high)}"


def measure(name: str) -> Measure:
    """Reads a record name in the words of the installed workloads."""
    family, part = family_of(name)
    return Measure(name, family, part)


def in_reading_order(names: list[str]) -> list[str]:
    """By part: whole tumor first, then core, enhancing tumor and the mean; other names as they came, at the end."""
    return sorted(names, key=lambda name: (not measure(name).family.parts, measure(name).position))


def listed_by_family(names: list[str]) -> str:
    """`Dice (WT, TC, ET); HD95 (WT)`: many names in little room."""
    families: dict[str, list[str]] = {}
    for name in in_reading_order(names):
        found = measure(name)
        families.setdefault(found.family.title, []).extend([found.short] if found.part else [])
    return "; ".join(f"{title} ({', '.join(parts)})" if parts else title for title, parts in families.items())


def arm_title(arm: str) -> str:
    """An arm in words; `alone:x` is hospital x's own model."""
    if is_alone(arm):
        return f"{site_of(arm)}'s own model"
    return _ARMS.get(arm, arm)


def in_words(code: str) -> str:
    """A coded reason or note in words; an unknown code without its underscores."""
    return _CODES.get(code, code.replace("_", " "))


def arm_head(arm: str) -> str:
    """An arm as the head of a column; `alone:x` is hospital x's."""
    return f"{site_of(arm)}'s" if is_alone(arm) else _ARM_HEADS.get(arm, arm)


def short_arm(arm: str) -> str:
    """An arm in a narrow column."""
    return f"{site_of(arm)} alone" if is_alone(arm) else _SHORT_ARMS.get(arm, arm)


def reason_in_words(reason: str) -> str:
    """`site: code` or a code alone, in words."""
    site, separator, code = reason.partition(": ")
    return f"{site}: {in_words(code)}" if separator else in_words(reason)
