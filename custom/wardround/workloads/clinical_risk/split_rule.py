"""The rule by which one site divides its patients: the study's, with the fractions that the site has of its own."""

from collections.abc import Mapping, Sequence

from wardround.records.changed import changed
from wardround.records.faults import fault
from wardround.records.inspection import Finding, Severity
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.clinical_risk.contract import SplitRule
from wardround.workloads.clinical_risk.settings import ClinicalRiskSiteSettings

_KEY = "split"


def site_rule(study: SplitRule, site: ClinicalRiskSiteSettings) -> SplitRule:
    """The study's rule with what the site sets, field by field.

    A site that sets `test_fraction: 1` alone means all of its patients, so none is left to validate on.

    Raises:
        WardroundError: a field of the site's does nothing here, or the fractions come to more than 1.
    """
    own = site.split.model_dump(exclude_none=True)
    if site.split_column is not None and "test_fraction" in own:
        raise _idle(["test_fraction"], f"split_column {site.split_column} says which rows test")
    if site.split_column is None and study.by == "time" and own:
        raise _idle(list(own), "the study splits by time")
    if own.get("test_fraction") == 1:
        own.setdefault("validation_fraction", 0.0)
    rule = changed(study, **own)
    if rule.validation_fraction + rule.test_fraction > 1:
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            fault(
                f"{_told('validation_fraction', own, rule.validation_fraction)} and "
                f"{_told('test_fraction', own, rule.test_fraction)} come to more than 1",
                file="site.yaml",
                key=_KEY,
                expected="a sum of at most 1",
                advice="give both here",
            ),
        )
    return rule


def idle_fractions(site: ClinicalRiskSiteSettings, given_split: Sequence[str] | None) -> list[Finding]:
    """A note on fields of the site's that do nothing, since its column names validation rows itself."""
    own = list(site.split.model_dump(exclude_none=True))
    if not own or given_split is None or "validation" not in given_split:
        return []
    told = _idle(own, f"split_column {site.split_column} says which rows validate")
    return [Finding.of(Severity.NOTE, told.code, one) for one in told.faults]


def _idle(names: Sequence[str], why: str) -> WardroundError:
    keys = ", ".join(f"{_KEY}.{name}" for name in names)
    told = fault(f"does nothing, since {why}", file="site.yaml", key=keys, advice="leave it out")
    return WardroundError(Reason.CONFIGURATION_INVALID, told)


def _told(name: str, own: Mapping[str, float], value: float) -> str:
    return f"{name} {value}" + ("" if name in own else " of the study")
