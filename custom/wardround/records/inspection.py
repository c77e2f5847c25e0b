"""What an inspection of a site's data gives, as plain data: counts, and one finding for each thing to be told."""

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, computed_field

from wardround.records.faults import Fault
from wardround.records.reasons import Reason, WardroundError
from wardround.records.update import Role


class Severity(StrEnum):
    """How much a finding matters.

    An error has to be settled first: the site takes no part in a study until then. Of a warning, something is left out
    or missing (its `count`), or doubtful and used, and the rest is usable. A note is to be known, and nothing has to be
    done.
    """

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Finding(Fault):
    """A fault with its severity and its kind; only the kind and a count of it ever leave the site."""

    severity: Severity
    kind: Reason

    @classmethod
    def of(cls, severity: Severity, kind: Reason, fault: Fault | str) -> Self:
        """A finding from a fault."""
        parts = (
            {"found": fault} if isinstance(fault, str) else {name: getattr(fault, name) for name in Fault.model_fields}
        )
        return cls(severity=severity, kind=kind, **parts)


class Findings(tuple[Finding, ...]):
    """Findings in the order in which they were made."""

    @classmethod
    def of_errors(cls, errors: Iterable[WardroundError], severity: Severity) -> Self:
        """What errors told, one finding a fault; a finding among the faults stays what it is."""
        return cls(
            fault if isinstance(fault, Finding) else Finding.of(severity, error.code, fault)
            for error in errors
            for fault in error.faults
        )

    @property
    def errors(self) -> list[Finding]:
        """What has to be settled first."""
        return [one for one in self if one.severity is Severity.ERROR]

    @property
    def warnings(self) -> list[Finding]:
        """What is left out or missing."""
        return [one for one in self if one.severity is Severity.WARNING]

    @property
    def notes(self) -> list[Finding]:
        """What is to be known."""
        return [one for one in self if one.severity is Severity.NOTE]

    def count_by_kind(self, severity: Severity) -> dict[str, int]:
        """How many places have each kind of a severity, by the kind's code."""
        counts: Counter[str] = Counter()
        for one in self:
            if one.severity == severity and one.count:
                counts[one.kind.value] += one.count
        return dict(counts)

    def doubts_by_kind(self) -> dict[str, int]:
        """How many warnings of each kind leave nothing out: see `Fault.count`."""
        return dict(Counter(one.kind.value for one in self.warnings if not one.count))

    def refuse(self) -> None:
        """Ends what cannot go on with an error among these.

        Raises:
            WardroundError: with the code of the first error and the text of all.
        """
        if errors := self.errors:
            raise WardroundError(errors[0].kind, *errors)


class Inspection(BaseModel):
    """One look at a site's data as a study would use it.

    Args:
        site, role: of the site.yaml.
        study: its name.
        time: ISO 8601 in UTC.
        counts: patients and cases by split, those that training uses; empty where the data could not be opened.
        findings: all that is to be told.
        headers_only: no more than headers was looked at, so that more may be found.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    site: str
    role: Role
    study: str
    time: str
    counts: dict[str, int] = Field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    headers_only: bool = False

    @property
    def found(self) -> Findings:
        """The findings, to be sorted by severity."""
        return Findings(self.findings)

    @property
    def left_out(self) -> int:
        """How many values, rows or cases the warnings are about."""
        return sum(self.found.count_by_kind(Severity.WARNING).values())

    @computed_field  # type: ignore[prop-decorator]
    @property
    def usable(self) -> bool:
        """Whether the site could take part in the study now."""
        return not self.found.errors
