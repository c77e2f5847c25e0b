"""What record names, arms and codes mean, in a reader's words."""

from collections.abc import Iterable
from dataclasses import dataclass

from wardround.records.arms import is_alone, site_of
from wardround.records.metric_record import MetricRecord

MINUS = "\N{MINUS SIGN}"  # as wide as a plus, so that columns line up
DASH = "\N{EN DASH}"  # stands where there is no figure

_PARTS = {"wt": "whole tumor", "tc": "tumor core", "et": "enhancing tumor", "mean": "mean of regions"}
_SHORT_PARTS = {"wt": "WT", "tc": "TC", "et": "ET", "mean": "mean"}
_ORDER = ("wt", "tc", "et", "mean")

_ARMS = {
    "best": "Federated, best round",
    "last": "Federated, last round",
    "personalised": "Federated, then fine-tuned at the site",
    "alone": "Alone: each hospital's own data only",
    "pooled": "Pooled: all data in one place",
}
_SHORT_ARMS = {
    "best": "federated, best",
    "last": "federated, last",
    "personalised": "federated, fine-tuned",
    "alone": "alone, at home",
    "pooled": "pooled",
}
_ARM_HEADS = {
    "best": "federated",
    "last": "fed., last",
    "personalised": "fine-tuned",
    "alone": "alone",
    "pooled": "pooled",
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
    "statistics_of_scored_images": "from the images of the scored cases, without their labels: it has no others",
    "statistics_re_measured": "BatchNorm statistics re-measured on the site's own unlabelled cases",
    "fine_tuning_kept": "fine-tuning was better on validation",
    "fine_tuning_not_kept": "fine-tuning was no better on validation, so the federated model was kept",
}


@dataclass(frozen=True)
class Family:
    """Metrics that share a definition, such as Dice of each region."""

    key: str
    title: str
    higher_is_better: bool
    digits: int = 3
    unit: str = ""


_FAMILIES = (
    Family("brats_dice", "Dice, BraTS convention", True),
    Family("brats_hd95", "HD95, BraTS convention", False, 1, "mm"),
    Family("false_positive_volume", "False-positive volume", False, 1, "ml"),
    Family("dice", "Dice", True),
    Family("hd95", "HD95", False, 1, "mm"),
    Family("voxels", "Voxel counts", True, 0),
)


@dataclass(frozen=True)
class Measure:
    """One record name: its family and the part of the anatomy, if any."""

    name: str
    family: Family
    part: str

    @property
    def title(self) -> str:
        """Long form: `Dice, whole tumor`."""
        part = _PARTS.get(self.part, self.part.replace("_", " "))
        return f"{self.family.title}, {part}" if part else self.family.title

    @property
    def short(self) -> str:
        """Column head: `WT`, or the family's title where there are no parts."""
        return _SHORT_PARTS.get(self.part, self.part.replace("_", " ")) or self.family.title

    def text(self, value: float) -> str:
        """The value in the family's digits."""
        return f"{value:.{self.family.digits}f}"

    def signed(self, value: float) -> str:
        """A difference with its sign."""
        return f"{value:+.{self.family.digits}f}".replace("-", MINUS)


def support_text(record: MetricRecord) -> str:
    """`6 of 8`: of 8 cases, 6 whose label holds the region; `8` where all do or where that does not matter."""
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


def measure(name: str) -> Measure:
    """Reads a record name. A name of no known family is its own family, where higher is taken as better."""
    for family in _FAMILIES:
        if name == family.key or name.startswith(family.key + "_"):
            return Measure(name, family, name[len(family.key) + 1 :])
    return Measure(name, Family(name, name.replace("_", " "), True), "")


def in_part_order(parts: Iterable[str]) -> list[str]:
    """Whole tumor first, then core and enhancing tumor; other parts at the end."""
    return sorted(parts, key=lambda part: _ORDER.index(part) if part in _ORDER else len(_ORDER))


def part_in_words(part: str) -> str:
    """`whole tumor` for `wt`."""
    return _PARTS.get(part, part.replace("_", " "))


def in_reading_order(names: list[str]) -> list[str]:
    """Whole tumor first, then core, enhancing tumor and the mean; other names as they came."""
    positions = {part: index for index, part in enumerate(_ORDER)}
    return sorted(names, key=lambda name: positions.get(measure(name).part, len(_ORDER)))


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
