"""Scores by case, in the site's own folder: they name cases, so they never leave it."""

from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from wardround.records.files import private_folder, write_whole
from wardround.records.reasons import Reason, WardroundError
from wardround.records.scores import CaseScore, Scores

_CASES = TypeAdapter(list[CaseScore])


def case_file(run_folder: Path, arm: str, split: str) -> Path:
    """`<run folder>/cases/<arm>.<split>.json`, with a hyphen for the colon of `alone:<site>`."""
    return run_folder / "cases" / f"{arm.replace(':', '-')}.{split}.json"


def write_case_scores(run_folder: Path, arm: str, scores: Scores) -> Path:
    """Writes the cases of `scores`.

    Args:
        run_folder: the site's `<state_folder>/<run>`.
        arm: see `records.arms`.
        scores: of one split; its `cases` are what is written.
    """
    file = case_file(run_folder, arm, scores.split)
    private_folder(file.parent)
    write_whole(file, _CASES.dump_json(scores.cases, indent=1), private=True)
    return file


def read_case_scores(run_folder: Path, arm: str, split: str) -> list[CaseScore]:
    """Reads them back.

    Raises:
        WardroundError: this arm was not scored on this split here, or the file is broken.
    """
    file = case_file(run_folder, arm, split)
    try:
        return _CASES.validate_json(file.read_bytes())
    except FileNotFoundError:
        raise WardroundError(
            Reason.METRICS_MISSING, f"{file}: missing; the arm {arm} was not scored on {split} at this site"
        ) from None
    except ValidationError as error:
        raise WardroundError(Reason.DATA_UNREADABLE, f"{file}: not a list of case scores: {error}") from error
