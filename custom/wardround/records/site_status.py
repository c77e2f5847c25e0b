"""What a hospital's admin wants to know of its own site, as plain data."""

from dataclasses import dataclass, field
from pathlib import Path

from wardround.records.shared_monitoring import SharedMonitoring


def counts_in_words(counts: dict[str, int], left_out: int) -> str:
    """Such as `6 train cases, 8 test cases; 1 left out`; what there is none of is not told."""
    told = [f"{count} {name.replace('_', ' ')}" for name, count in counts.items() if count and name != "left_out"]
    return f"{', '.join(told) or 'nothing'}; {left_out} left out"


def in_utc(time: str) -> str:
    """`2030-01-01T09:30:00+00:00` as people read it: `2030-01-01 09:30:00 UTC`."""
    return f"{time.removesuffix('+00:00').replace('T', ' ')} UTC"


@dataclass(frozen=True)
class SiteAnswer:
    """One order that the server gave, and what the site answered.

    Attributes:
        time: when it was answered, ISO 8601 in UTC.
        job: FLARE's id of the job.
        task: prepare, train or validate.
        round: of the order, from 0.
        arm: what was scored, for validate.
        error: the reason code that was sent instead of a result; empty where there was a result.
        metrics: name to the value that was sent; what was suppressed or undefined is not among them.
    """

    time: str
    job: str
    task: str
    round: int
    arm: str = ""
    error: str = ""
    metrics: dict[str, float] = field(default_factory=dict)

    @property
    def doing(self) -> str:
        """What the site was asked to do, in words."""
        if self.task == "train":
            return f"train, round {self.round + 1}"
        return f"score {self.arm}" if self.arm else self.task


@dataclass(frozen=True)
class RunStatus:
    """One run at this site: its answers, oldest first."""

    name: str
    answers: list[SiteAnswer]

    @property
    def last(self) -> SiteAnswer:
        """The newest answer."""
        return self.answers[-1]

    @property
    def trained(self) -> list[SiteAnswer]:
        """Answers to train, each with the metrics of the model that was received; one a round, the newest counts."""
        return list({one.round: one for one in self.answers if one.task == "train"}.values())

    @property
    def metric_names(self) -> list[str]:
        """Of all rounds, in the order of first use."""
        return list(dict.fromkeys(name for answer in self.trained for name in answer.metrics))


@dataclass(frozen=True)
class LastInspection:
    """When a study's data was last looked at here, and the outcome in counts."""

    time: str
    study: str
    usable: bool
    counts: dict[str, int]
    left_out: int


@dataclass(frozen=True)
class StudyConsent:
    """What the hospital decided last on a study, in words."""

    study: str
    approved: bool
    told: str


@dataclass(frozen=True)
class SiteStatus:
    """All of it.

    Attributes:
        site: its name.
        connection: one line on what the site's process last did.
        certificate: one line; `certificate_fine` where nothing has to be done.
        runs: newest first.
        inspections: by study.
        training: one line on the site's training windows and device hours.
        consents: the decision that holds, by study; empty where nobody has decided on one.
        shared: looks at released models that leave with every job of their study, and the file of each.
    """

    site: str
    connection: str
    certificate: str
    certificate_fine: bool
    runs: list[RunStatus]
    inspections: list[LastInspection]
    training: str = "at any time"
    consents: list[StudyConsent] = field(default_factory=list)
    shared: list[tuple[SharedMonitoring, Path]] = field(default_factory=list)
