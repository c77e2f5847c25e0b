"""What the server asks of a site and what the site answers, beside weights: plain data, checked at both ends."""

from pydantic import BaseModel, ConfigDict, Field

from wardround.records.alerts import AlertRow
from wardround.records.codes import Code
from wardround.records.metric_record import MetricRecord
from wardround.records.reasons import Reason
from wardround.records.scores import Cohort, Tally
from wardround.records.update import SiteManifest, TrainingReport

PREPARE = "prepare"
TRAIN = "train"
VALIDATE = "validate"
TASKS = (PREPARE, TRAIN, VALIDATE)


class _Message(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Order(_Message):
    """What a site is asked to do.

    Args:
        run: names the run; it becomes a folder at the site, so the site accepts no separators in it.
        round: index of the round, from 0; the last model's scoring carries the number of rounds. For `prepare`, the
            first one that the site can be part of: above 0 the initial model is made, and its sums are not asked for.
        model_round: rounds of training behind the weights sent along.
        acknowledged: site to the last round of its own that the server accepted. Only this commits local state.
            FLARE broadcasts one order to all, so each site learns which rounds of the others were accepted.
        arm, split: for `validate`, what is scored; arm `personalised` fine-tunes the weights first.
        deadline_seconds: how long the server waits for the answer; 0 where that is not known.
    """

    run: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,79}$")
    round: int = Field(0, ge=0)
    model_round: int = Field(0, ge=0)
    acknowledged: dict[str, int] = Field(default_factory=dict)
    arm: str = Field("last", pattern=r"^[a-z_]{1,40}$")
    split: str = Field("validation", pattern=r"^[a-z_]{1,40}$")
    deadline_seconds: int = Field(0, ge=0)


class Reply(_Message):
    """What a site answers. A failure is a code and nothing else: the words stay in the site's own log.

    Args:
        error: why there is no result; None where there is one.
        manifest: the answer to `prepare`.
        report: what training did.
        records, tallies, cohorts, alerts: scores of the weights that were received, or of the arm that was asked for.
        notes: coded remarks, such as `statistics_re_measured`.
        suppressed: names of tallies that the site's disclosure rules held back.
    """

    error: Reason | None = None
    manifest: SiteManifest | None = None
    report: TrainingReport | None = None
    records: list[MetricRecord] = Field(default_factory=list)
    tallies: list[Tally] = Field(default_factory=list)
    cohorts: list[Cohort] = Field(default_factory=list)
    alerts: list[AlertRow] = Field(default_factory=list)
    notes: list[Code] = Field(default_factory=list)
    suppressed: list[Code] = Field(default_factory=list)
