"""run.jsonl: the record of a run, one line a fact. Reports are made from it alone."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from wardround.records.alerts import AlertRow
from wardround.records.code import CodeFacts
from wardround.records.metric_record import MetricRecord
from wardround.records.reasons import Reason, WardroundError
from wardround.records.scores import Cohort, Tally
from wardround.records.update import SiteManifest, SiteRound

Environment = Literal["sim", "poc", "prod"]  # FLARE's simulator, POC mode, a production server


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid")


class StartLine(_Line):
    """What was agreed in `prepare`. Who was `missing` then may join later: see `JoinLine`."""

    kind: Literal["start"] = "start"
    run: str
    time: str
    environment: str
    study: dict
    study_digest: str
    sites: list[SiteManifest]
    missing: list[str] = Field(default_factory=list)
    versions: dict[str, str] = Field(default_factory=dict)
    code: CodeFacts | None = None


class JoinLine(_Line):
    """A site that was not ready in `prepare` takes part from `round` on, which counts from 0."""

    kind: Literal["join"] = "join"
    round: int
    manifest: SiteManifest


class ResumeLine(_Line):
    """The run goes on from a checkpoint, in a new job. Lines of rounds that it repeats are not in the record.

    Args:
        time: when.
        round: from 0, the round that is next; the number of rounds where only scoring was left.
        because: how the run had ended before.
        sites, missing: who answered to `prepare` this time, and who did not.
        left_out: sites that it goes on without, because somebody said so.
        changed: settings that are others than in the start line, by their dotted key: before, and now.
        versions, code: the server's.
    """

    kind: Literal["resume"] = "resume"
    time: str
    round: int
    because: str
    sites: list[SiteManifest]
    missing: list[str] = Field(default_factory=list)
    left_out: list[str] = Field(default_factory=list)
    changed: dict[str, tuple[Any, Any]] = Field(default_factory=dict)
    versions: dict[str, str] = Field(default_factory=dict)
    code: CodeFacts | None = None


class RoundLine(_Line):
    """One round. `round` counts from 0; `sites[*].records` score the model that the round began with.

    Args:
        expected, contributed: site names; `rejected` and `failed` map a name to a reason code.
        late: expected sites that did not answer in time.
        moved: L2 norm of the global model's change.
        best_so_far: round index whose starting model leads on the key metric, if any.
        seconds: wall time by phase (`total`, `sites`, `aggregate`, `save`).
        alarms: coded warnings, such as no_update.
    """

    kind: Literal["round"] = "round"
    round: int
    rounds: int
    expected: list[str]
    contributed: list[str]
    rejected: dict[str, str] = Field(default_factory=dict)
    failed: dict[str, str] = Field(default_factory=dict)
    late: list[str] = Field(default_factory=list)
    sites: dict[str, SiteRound] = Field(default_factory=dict)
    moved: float = 0.0
    best_so_far: int | None = None
    seconds: dict[str, float] = Field(default_factory=dict)
    alarms: list[str] = Field(default_factory=list)


class ScoreLine(_Line):
    """One arm on one split at one site.

    Args:
        arm: see `records.arms`.
        model_round: rounds of training behind the model (0 is the initial model).
        notes: coded remarks, such as `statistics_re_measured`, `fine_tuning_not_kept`, `incomplete`.
        suppressed: names of tallies that the site's disclosure rules held back.
    """

    kind: Literal["score"] = "score"
    arm: str
    split: str
    site: str
    role: str
    model_round: int | None
    records: list[MetricRecord]
    tallies: list[Tally] = Field(default_factory=list)
    cohorts: list[Cohort] = Field(default_factory=list)
    alerts: list[AlertRow] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)
    suppressed: list[str] = Field(default_factory=list)

    @property
    def flags(self) -> list[str]:
        """Notes on what somebody should look into: the last model is worse at the site than the one before it."""
        return [note for note in self.notes if note in (Reason.KEY_FIGURE_WORSE, Reason.CALIBRATION_WORSE)]


class DifferenceLine(_Line):
    """Arm minus reference, paired over the same cases, with its 95 % interval."""

    kind: Literal["difference"] = "difference"
    arm: str
    reference: str
    split: str
    site: str
    records: list[MetricRecord]


class BaselineRoundLine(_Line):
    """A baseline's validation curve, in the federation's rounds."""

    kind: Literal["baseline_round"] = "baseline_round"
    arm: str
    round: int
    sites: dict[str, list[MetricRecord]]


class EndLine(_Line):
    """How it ended. `partial` names what is incomplete; a run without an EndLine was stopped.

    Args:
        weights_sha256, best_weights_sha256: of the shared entries of the last model, and of the best.
    """

    kind: Literal["end"] = "end"
    status: Literal["complete", "partial", "failed"]
    reasons: list[str] = Field(default_factory=list)
    best_round: int | None = None
    last_round: int | None = None
    weights_sha256: str | None = None
    best_weights_sha256: str | None = None
    seconds: float = 0.0


RunLine = Annotated[
    StartLine | ResumeLine | JoinLine | RoundLine | ScoreLine | DifferenceLine | BaselineRoundLine | EndLine,
    Field(discriminator="kind"),
]
_ADAPTER: TypeAdapter[RunLine] = TypeAdapter(RunLine)


def append_line(file: Path, line: RunLine) -> None:
    """Adds one line and flushes it, so that a killed run keeps what it had."""
    with file.open("a", encoding="utf-8") as stream:
        stream.write(line.model_dump_json() + "\n")
        stream.flush()


def read_lines(file: Path) -> list[RunLine]:
    """All complete lines; a last line cut short by a kill is left out.

    Raises:
        WardroundError: a line is no line of a record, with its number.
    """
    content = file.read_bytes()
    complete = content[: content.rfind(b"\n") + 1].split(b"\n")
    return [_read_line(line, f"{file}, line {number}") for number, line in enumerate(complete, 1) if line.strip()]


def _read_line(line: bytes, where: str) -> RunLine:
    try:
        return _ADAPTER.validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        raise WardroundError(
            Reason.DATA_UNREADABLE,
            f"{where}: not a line of a run's record ({f'{key}: ' if key else ''}{first['msg']}); copy the file again",
        ) from error
