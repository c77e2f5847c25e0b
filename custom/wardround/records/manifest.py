"""manifest.json of a run: everything that names it, so that a model can be traced to what made it."""

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from wardround.records.acceptance import Acceptance
from wardround.records.code import CodeFacts
from wardround.records.declared import DeclaredData
from wardround.records.files import write_whole
from wardround.records.reasons import Reason, WardroundError
from wardround.records.resumption import Resumption
from wardround.records.study import STUDY_NAME
from wardround.records.update import Nature, Role

FILE_NAME = "manifest.json"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class EnrolledSite(_Part):
    """A site as it answered before its first round.

    Args:
        counts, left_out: of patients and cases, and of what was left out by reason; a small one is a range, `1 to 4`.
        joined_in: the first round of a site that was not there at the start, from 1.
        declared: the version of its data set and how its labels came about, as its admin says.
    """

    site: str
    role: Role
    nature: Nature
    counts: dict[str, int | str]
    left_out: dict[str, int | str]
    joined_in: int | None
    declared: DeclaredData
    contract_sha256: str
    study_sha256: str
    versions: dict[str, str]
    code: CodeFacts | None


class MetricDefinition(_Part):
    """What a figure's name means; `name` is its beginning where it has one by part, such as `dice` of `dice_wt`."""

    name: str
    title: str
    better: Literal["higher", "lower"]
    unit: str
    formula: str
    parts: list[str]


class ModelFile(_Part):
    """A model that the run left.

    Args:
        file: below the run's folder.
        model_round: rounds of training behind it.
        sha256, card_sha256: of the file's bytes, and of its card's.
        weights_sha256: of the entries, as its card has it.
    """

    file: str
    model_round: int
    sha256: str
    card_sha256: str
    weights_sha256: str


class RunManifest(_Part):
    """A whole manifest.json. What a run that failed early never learned is None or empty.

    Args:
        run, time: name and start in UTC, once its sites had agreed on it.
        status: complete, partial, failed, or stopped where the record has no end; `reasons` are the record's.
        study, settings, study_sha256: the study's name, whole settings, and their digest.
        contract_sha256: of the data contract that every site answered with.
        seeds: each seed of the settings by its key.
        acceptance: the study's criteria for a release.
        code, versions: of the server's part of the run; of this machine where the run never began.
        sites, missing: who took part, and who was expected and never did.
        metrics_version, metrics: the definitions of the figures.
        rounds_done, rounds: how many of how many; `best_round` and `last_round` as the record has them.
        models: by name.
        record_sha256: of the bytes of run.jsonl, on which every figure rests; None where there is none.
        resumptions: when the run went on in a new job, with which settings changed.
    """

    format: Literal["wardround-manifest-1"] = "wardround-manifest-1"
    run: str | None
    time: str | None
    environment: str
    status: Literal["complete", "partial", "failed", "stopped"]
    reasons: list[str]
    study: str = Field(pattern=STUDY_NAME)
    settings: dict[str, Any]
    study_sha256: str
    contract_sha256: str | None
    seeds: dict[str, int]
    acceptance: Acceptance
    code: CodeFacts | None
    versions: dict[str, str]
    sites: list[EnrolledSite]
    missing: list[str]
    metrics_version: int
    metrics: list[MetricDefinition]
    rounds_done: int
    rounds: int
    best_round: int | None
    last_round: int | None
    models: dict[str, ModelFile] = Field(default_factory=dict)
    record_sha256: str | None = None
    resumptions: list[Resumption] = Field(default_factory=list)


def write_manifest(folder: Path, manifest: RunManifest) -> Path:
    """Writes `folder/manifest.json`, whole or not at all."""
    file = folder / FILE_NAME
    write_whole(file, (manifest.model_dump_json(indent=2) + "\n").encode())
    return file


def read_manifest(folder: Path) -> RunManifest:
    """Reads `folder/manifest.json`.

    Raises:
        WardroundError: it is not there or is no manifest.
    """
    file = folder / FILE_NAME
    try:
        return RunManifest.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        raise WardroundError(
            Reason.DATA_MISSING, f"{file}: missing; `wardround report {folder}` writes it from the run's record"
        ) from None
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        found = f"{key}: {first['msg']}, found {first['input']!r:.80}" if key else first["msg"]
        raise WardroundError(
            Reason.DATA_UNREADABLE,
            f"{file}: not a run's manifest ({found}); copy the run's folder again, or move this file away and "
            f"`wardround report {folder}` writes it from the run's record",
        ) from error
