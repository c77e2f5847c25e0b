"""The report as plain data: what report.json holds and the page shows."""

from functools import cached_property
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from wardround.records.alerts import AlertRow
from wardround.records.arms import ALONE, PERSONALISED, RECALIBRATED, alone_at
from wardround.records.metric_record import MetricRecord
from wardround.records.resumption import Resumption
from wardround.records.scores import Cohort
from wardround.records.shared_monitoring import SharedMonitoring
from wardround.records.update import Nature, TrainingReport
from wardround.reporting.probability_parts import OutcomeFacts, PooledFigure, PrecisionRecall, Reliability
from wardround.reporting.words import Words, words_of


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class StudyFacts(_Part):
    """What was run: the study's own settings, and where."""

    name: str
    run: str
    time: str
    environment: str
    settings: dict
    digest: str
    key_metric: str
    key_metric_mode: Literal["max", "min"]
    versions: dict[str, str]
    outcome: OutcomeFacts | None = None

    @property
    def workload(self) -> str:
        """The workload's kind."""
        section = self.settings.get("workload")
        return str(section.get("kind", "")) if isinstance(section, dict) else ""


class Ending(_Part):
    """How the run ended. `stopped`: its record has no end. `complete`, but with figures missing, becomes `partial`."""

    status: Literal["complete", "partial", "failed", "stopped"]
    reasons: list[str]
    best_round: int | None = None
    last_round: int | None = None
    weights_sha256: str | None = None
    best_weights_sha256: str | None = None
    seconds: float | None = None


class SiteFacts(_Part):
    """A site, what it holds in numbers, what it sent and what stayed.

    Args:
        shared_entries, shared_numbers: named tensors that leave the site in a round, and the numbers in them.
        figures_sent, sums_sent: names of the records and of the additive counts that the server got from it.
        joined_in: the first round of a site that was not ready in `prepare`, from 1; None for those that were.
        times_sent: rounds in which the server got an update from it, accepted or not.
        nature: patients of a hospital, generated data, or a part of a public data set that stands for a hospital.
        counts, problems, doubts: of patients and cases, of what was left out, and of further warnings, such as what is
            doubtful and used, by name; a small one is a range, `1 to 4`.
        statistics, suppressed: names of the sums that it sent before the first round, and of those it held back.
        held_back: names of sums for pooling that it held back.
        monitoring: its last look at a released model, as far as it shared it.
    """

    name: str
    role: str
    counts: dict[str, int | str]
    problems: dict[str, int | str]
    shared_entries: int
    shared_numbers: int
    kept_local: list[str]
    figures_sent: list[str]
    sums_sent: list[str]
    times_sent: int
    joined_in: int | None = None
    nature: Nature = "hospital"
    statistics: list[str] = Field(default_factory=list)
    suppressed: list[str] = Field(default_factory=list)
    held_back: list[str] = Field(default_factory=list)
    doubts: dict[str, int | str] = Field(default_factory=dict)
    monitoring: SharedMonitoring | None = None

    @property
    def mark(self) -> str:
        """What a reader must not take it for: `pseudo-site`, `generated`, or nothing for a hospital."""
        return {"pseudo_site": "pseudo-site", "generated": "generated"}.get(self.nature, "")

    @property
    def label(self) -> str:
        """Its name, marked where it is a pseudo-site."""
        return f"{self.name} (pseudo-site)" if self.nature == "pseudo_site" else self.name


class RoundFacts(_Part):
    """One round, counted from 1 as people do.

    Args:
        weights: shares of the aggregate, which sum to 1.
        cosines, norm_ratios, flags: by site, see `SiteRound`.
    """

    round: int
    expected: list[str]
    contributed: list[str]
    rejected: dict[str, str]
    failed: dict[str, str]
    late: list[str]
    alarms: list[str]
    weights: dict[str, float]
    moved: float
    seconds: dict[str, float]
    training: dict[str, TrainingReport]
    cosines: dict[str, float] = Field(default_factory=dict)
    norm_ratios: dict[str, float] = Field(default_factory=dict)
    flags: dict[str, list[str]] = Field(default_factory=dict)


class Point(_Part):
    """A curve's value after `rounds` rounds of training; 0 is the initial model."""

    rounds: int
    record: MetricRecord


class Curve(_Part):
    """Validation figures of one arm at one site."""

    arm: str
    site: str
    metric: str
    points: list[Point]


class ArmScore(_Part):
    """A row of the table: one model at one site on test cases. `at_home`: a hospital's own model at that hospital."""

    arm: str
    site: str
    role: str
    at_home: bool
    model_round: int | None
    notes: list[str]
    records: dict[str, MetricRecord]
    cohorts: list[Cohort] = Field(default_factory=list)
    alerts: list[AlertRow] = Field(default_factory=list)


class Overall(_Part):
    """One arm over the training sites, each counted once.

    Args:
        mean: over `sites`; None where no site has a usable value.
        left_out: site to the reason why its figure is not in the mean (undefined, suppressed, low support).
    """

    arm: str
    metric: str
    mean: float | None
    sites: list[str]
    left_out: dict[str, str]
    worst_site: str | None
    worst: float | None


class Comparison(_Part):
    """Arm minus reference at one site, paired by case, and what that shows.

    Args:
        verdict: `better` or `worse` where the 95 % interval excludes 0; `not_shown` where it includes 0;
            `too_few` where the cases are too few for an interval; `unknown` without a difference.
    """

    arm: str
    reference: str
    site: str
    role: str
    metric: str
    difference: MetricRecord
    arm_value: float | None
    reference_value: float | None
    verdict: Literal["better", "worse", "not_shown", "too_few", "unknown"]


class PooledDice(_Part):
    """2 both / (predicted + reference) over all voxels of all sites' test cases; None where no case has the region.

    Args:
        tally: the name of the sums that it is of.
        region: the part of the tally's name that says what is counted.
    """

    arm: str
    tally: str
    region: str
    dice: float | None
    both: float
    predicted: float
    reference: float
    cases: int
    sites: list[str]


class Summary(_Part):
    """Everything a report says, made from a run's lines alone."""

    study: StudyFacts
    ending: Ending
    sites: list[SiteFacts]
    missing: list[str] = Field(description="sites that were enrolled and never joined")
    resumptions: list[Resumption] = Field(default_factory=list, description="when the run went on in a new job")
    rounds: list[RoundFacts]
    last_flags: dict[str, list[str]] = Field(
        default_factory=dict, description="by site, what stood out when the last model was compared with the one before"
    )
    curves: list[Curve]
    table: list[ArmScore]
    overall: list[Overall]
    comparisons: list[Comparison]
    pooled: list[PooledDice]
    pooled_figures: list[PooledFigure] = Field(default_factory=list)
    reliability: list[Reliability] = Field(default_factory=list)
    precision_recall: list[PrecisionRecall] = Field(default_factory=list)

    @cached_property
    def words(self) -> Words:
        """What its names and codes mean."""
        return words_of(self.study.workload)

    def records_at(self, arm: str, site: str) -> dict[str, MetricRecord]:
        """Test records of an arm at a site by name; `alone` means the site's own model. Empty where not scored."""
        wanted = alone_at(site) if arm == ALONE else arm
        return next((row.records for row in self.table if row.arm == wanted and row.site == site), {})

    def training_sites(self) -> list[str]:
        """Names of the sites that train."""
        return [site.name for site in self.sites if site.role == "train"]

    def fine_tuning_kept(self, site: str) -> bool | None:
        """Whether fine-tuning changed the model at a site; None where it was not tried."""
        return self._kept(PERSONALISED, site, "fine_tuning_not_kept")

    def not_kept(self, arm: str, site: str) -> bool:
        """Whether a site's own step was tried and dropped, so that the arm's figures are those of the arm before."""
        dropped = {PERSONALISED: "fine_tuning_not_kept", RECALIBRATED: "recalibration_not_kept"}
        return arm in dropped and self._kept(arm, site, dropped[arm]) is False

    def label(self, site: str) -> str:
        """A site's name as people are to read it, see `SiteFacts.label`."""
        return next((facts.label for facts in self.sites if facts.name == site), site)

    def sites_are(self) -> Literal["hospital", "pseudo-site", "site"]:
        """What to call the sites: `hospital` only where each is one or is generated to be like one."""
        pseudo = {site.nature == "pseudo_site" for site in self.sites}
        return "hospital" if pseudo <= {False} else "pseudo-site" if pseudo == {True} else "site"

    def _kept(self, arm: str, site: str, note: str) -> bool | None:
        row = next((row for row in self.table if row.arm == arm and row.site == site), None)
        return None if row is None else note not in row.notes

    def best_is_last(self) -> bool:
        """Whether the best round is the last one, so that both names mean one model."""
        return self.ending.best_round is not None and self.ending.best_round == self.ending.last_round
