"""The model of a run that someone wants to release, checked to be the one that the run's figures are of."""

from dataclasses import dataclass
from pathlib import Path

from wardround.learners.checkpoint import Checkpoint, load_checkpoint
from wardround.records.acceptance_outcome import AcceptanceOutcome
from wardround.records.arms import BEST, LAST
from wardround.records.files import sha256_of
from wardround.records.manifest import RunManifest, read_manifest
from wardround.records.reasons import Reason, WardroundError
from wardround.records.run_lines import read_lines
from wardround.releases.consistency import refuse_other_model, refuse_other_record
from wardround.reporting.acceptance import check_criteria
from wardround.reporting.model import Summary
from wardround.reporting.summary import summarise

RECORD = "run.jsonl"


@dataclass(frozen=True)
class Candidate:
    """A run's model with everything that a release says of it.

    Args:
        folder: the run's.
        arm: best or last.
        tensors: its file; the card lies beside it.
    """

    folder: Path
    arm: str
    summary: Summary
    manifest: RunManifest
    outcome: AcceptanceOutcome
    checkpoint: Checkpoint
    tensors: Path


def candidate(folder: Path, round_number: int | None = None) -> Candidate:
    """Finds the model of a round and holds the study's criteria against its figures.

    Args:
        folder: of the run.
        round_number: rounds of training behind the model; the best one by default.

    Raises:
        WardroundError: the run has no result, keeps no model of that round, or its files are not those that it wrote.
    """
    record = folder / RECORD
    if not record.is_file():
        raise WardroundError(Reason.DATA_MISSING, f"{record}: missing; name the folder that `wardround run` wrote")
    manifest = read_manifest(folder)
    lines = read_lines(record)
    summary = summarise(lines)
    refuse_other_record(record, lines, summary, manifest)
    arm = _arm(folder, summary, round_number)
    tensors = _checked_files(folder, manifest, arm)
    checkpoint = load_checkpoint(tensors)
    refuse_other_model(tensors, checkpoint.card, lines, summary, arm)
    return Candidate(folder, arm, summary, manifest, check_criteria(summary, arm), checkpoint, tensors)


def _arm(folder: Path, summary: Summary, round_number: int | None) -> str:
    ending = summary.ending
    if ending.best_round is None or ending.last_round is None:
        why = f": {'; '.join(ending.reasons)}" if ending.reasons else ""
        raise WardroundError(
            Reason.CONFIGURATION_INVALID, f"{folder}: the run is {ending.status} and has no model to release{why}"
        )
    if round_number is None or round_number == ending.best_round:
        return BEST
    if round_number == ending.last_round:
        return LAST
    raise WardroundError(
        Reason.CONFIGURATION_INVALID,
        f"--round {round_number}: {folder} keeps the best model, of round {ending.best_round}, and the last, of round "
        f"{ending.last_round}, and no other; name one of these",
    )


def _checked_files(folder: Path, manifest: RunManifest, arm: str) -> Path:
    known = manifest.models.get(arm)
    if known is None:
        raise WardroundError(
            Reason.DATA_MISSING, f"{folder / 'manifest.json'}: names no model {arm}, so the run left none; run it again"
        )
    tensors = folder / known.file
    for file, digest in ((tensors, known.sha256), (tensors.with_suffix(".json"), known.card_sha256)):
        if not file.is_file():
            raise WardroundError(Reason.DATA_MISSING, f"{file}: missing; copy the run's whole folder")
        if sha256_of(file) != digest:
            raise WardroundError(
                Reason.DATA_UNREADABLE,
                f"{file}: not as the run left it: its SHA-256 is not the one in {folder / 'manifest.json'}; copy the "
                "run's folder again",
            )
    return tensors
