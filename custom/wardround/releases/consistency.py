"""That a run's record, its manifest and its models are of one run and as it left them."""

from pathlib import Path

from wardround.learners.card import CheckpointCard
from wardround.records.arms import BEST
from wardround.records.files import sha256_of
from wardround.records.manifest import FILE_NAME, RunManifest
from wardround.records.reasons import Reason, WardroundError
from wardround.records.resumption import settled_settings
from wardround.records.run_lines import RunLine
from wardround.records.study import settings_digest
from wardround.records.unlike import unlike
from wardround.reporting.model import Summary
from wardround.reporting.run_manifest import make_manifest

_COPY = "one of the two was changed, or is of another run: copy the run's whole folder again"
_ANEW = "`wardround report` writes it anew from the record, once it is moved away"
_OWN = {"record_sha256", "models", "metrics", "metrics_version"}  # said by the manifest alone, or by this version


def refuse_other_record(record: Path, lines: list[RunLine], summary: Summary, manifest: RunManifest) -> None:
    """Compares a run's record with its manifest, byte for byte and then fact by fact.

    Raises:
        WardroundError: with the file, what the other says, and what was found.
    """
    beside = record.with_name(FILE_NAME)
    if manifest.record_sha256 is None:
        raise WardroundError(
            Reason.DATA_UNREADABLE,
            f"{beside}: record_sha256: expected the SHA-256 of {record.name}, found none: another wardround wrote it; "
            f"{_ANEW}",
        )
    if (found := sha256_of(record)) != manifest.record_sha256:
        raise _differs(record, "its SHA-256", manifest.record_sha256, found, beside)
    made = make_manifest(lines, manifest.models)
    due, there = (one.model_dump(mode="json", exclude=_OWN) for one in (made, manifest))
    for key, (told, said) in unlike(due, there).items():
        raise _differs(beside, key, told, said, record)
    if (digest := settings_digest(summary.study.settings)) != summary.study.digest:
        raise _differs(record, "the SHA-256 of the start line's study", summary.study.digest, digest, record)


def refuse_other_model(tensors: Path, card: CheckpointCard, lines: list[RunLine], summary: Summary, arm: str) -> None:
    """Compares a model's card with what the record's last line says of the model.

    Args:
        tensors: the model's file.
        card: beside it; that its digest is the tensors' was checked when they were read.
        lines: of the record.
        summary: of the same lines.
        arm: best or last.

    Raises:
        WardroundError: it is not that model, or the record does not say which it is.
    """
    ending = summary.ending
    best = arm == BEST
    sha = ending.best_weights_sha256 if best else ending.weights_sha256
    if sha is None:
        raise WardroundError(
            Reason.DATA_UNREADABLE,
            f"{tensors.parents[1]}: the record's last line lacks the SHA-256 of the {arm} model's weights, so nothing "
            "binds its figures to a model: another wardround wrote it; run the study again",
        )
    expected = {
        "study": summary.study.name,
        "study_digest": settings_digest(settled_settings(lines)),
        "model_round": ending.best_round if best else ending.last_round,
        "weights_sha256": sha,
    }
    for name, told in expected.items():
        if (said := getattr(card, name)) != told:
            raise WardroundError(
                Reason.DATA_UNREADABLE,
                f"{tensors}: {name}: expected {told} as in the run's record, found {said}: it is the model of another "
                "run; copy the run's whole folder again",
            )


def _differs(file: Path, what: str, expected: object, found: object, other: Path) -> WardroundError:
    return WardroundError(
        Reason.DATA_UNREADABLE,
        f"{file}: {what}: expected {expected!s:.120} as in {other}, found {found!s:.120}; {_COPY}",
    )
