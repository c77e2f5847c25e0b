"""What a site says of itself before and after a round: plain data, no weights."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from wardround.records.code import CodeFacts
from wardround.records.codes import Band, Code, Count, Digest, EntryName, Version
from wardround.records.declared import DeclaredData
from wardround.records.metric_record import MetricRecord
from wardround.records.scores import Tally
from wardround.records.shared_monitoring import SharedMonitoring

Role = Literal["train", "evaluate"]
Nature = Literal["hospital", "generated", "pseudo_site"]


class SiteManifest(BaseModel):
    """A site's answer to `prepare`: what must agree before training starts.

    Args:
        site: the site's name, as FLARE's certificate gives it (set by the server).
        role: `train`, or `evaluate` for an outside hospital that is only scored.
        counts: patients and cases by split.
        banded: counts that are told as a range alone, [least, most], since they are small or would give a small one
            away; most is None where it is open.
        metric_names: records that every validation will report.
        shared: name to [dtype, *shape] of the entries that leave the site.
        kept_local: names of the entries that stay.
        contract_digest, study_digest: hashes that must equal the server's.
        problems: how many values, rows or files were left out or are missing, by reason code.
        banded_problems: the same as a range, where it is small.
        doubts, banded_doubts: how many further warnings there are, by reason code: of what is doubtful and used, or
            also wrong with what was left out.
        versions: package name to version.
        statistics: sums over the site's training cases that the study's initial model needs, such as a column's.
        inputs: counts of its training inputs by cell, for a release's statistics.
        suppressed: names of such sums, and of counts, that the site's disclosure rules held back.
        nature: patients of a hospital; generated data; or a part of a public data set that stands for a hospital.
        declared: what the site's admin says of the data set and of how its labels came about.
        code: what runs there.
        monitoring: the last look at a released model that the site's admin has shared.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    site: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$")
    role: Role
    counts: dict[Code, Count]
    metric_names: tuple[Code, ...]
    shared: dict[EntryName, list[Code | int]]
    kept_local: tuple[EntryName, ...]
    contract_digest: Digest
    study_digest: Digest
    banded: dict[Code, Band] = Field(default_factory=dict)
    problems: dict[Code, Count] = Field(default_factory=dict)
    banded_problems: dict[Code, Band] = Field(default_factory=dict)
    doubts: dict[Code, Count] = Field(default_factory=dict)
    banded_doubts: dict[Code, Band] = Field(default_factory=dict)
    versions: dict[Code, Version] = Field(default_factory=dict)
    statistics: list[Tally] = Field(default_factory=list)
    inputs: list[Tally] = Field(default_factory=list)
    suppressed: list[Code] = Field(default_factory=list)
    nature: Nature = "hospital"
    declared: DeclaredData = DeclaredData()
    code: CodeFacts | None = None
    monitoring: SharedMonitoring | None = None


class TrainingReport(BaseModel):
    """What one site's training did in one round.

    Args:
        steps, skipped_steps: optimizer steps made, and left out for a loss or gradient that is not finite.
        patients: training patients, the default weight.
        loss: mean training loss.
        moved: L2 norm of the update over shared trainable entries.
        proximal_pull: mu/2 ||w - w_global||^2 at the end of the round; 0 without the proximal term.
        gradient_norm: L2 norm of the loss gradient over shared trainable entries at the last step.
        proximal_gradient_norm: mu ||w - w_global|| at the last step.
        seconds: wall time by phase (`validate`, `train`).
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    steps: Count
    skipped_steps: Count
    patients: Count
    loss: float | None
    moved: float
    proximal_pull: float = 0.0
    gradient_norm: float | None = None
    proximal_gradient_norm: float = 0.0
    seconds: dict[Code, float] = Field(default_factory=dict)


class SiteRound(BaseModel):
    """One site in one round of the record.

    Args:
        weight: its share of the mean; 0 where its update is not in it.
        cosine: between its update and the mean of the others'.
        norm_ratio: the L2 norm of its update by the median of all.
        flags: codes of what somebody should look into, as the server or the site found it: an update unlike the
            others', a model that does worse on the site's validation cases.
        suppressed: names of tallies that the site's disclosure rules held back.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    report: TrainingReport
    weight: float
    records: list[MetricRecord]
    tallies: list[Tally] = Field(default_factory=list)
    cosine: float | None = None
    norm_ratio: float | None = None
    flags: list[Code] = Field(default_factory=list)
    suppressed: list[Code] = Field(default_factory=list)
