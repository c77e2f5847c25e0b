"""Reads a release back: its model, what was demanded of it, and how its inputs were distributed."""

from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from wardround.learners.checkpoint import Checkpoint, load_checkpoint
from wardround.records.acceptance_outcome import AcceptanceOutcome
from wardround.records.files import sha256_of
from wardround.records.input_statistics import FILE_NAME, InputStatistics, read_input_statistics
from wardround.records.reasons import Reason, WardroundError
from wardround.releases.checksums import LIST, differences
from wardround.releases.facts import FACTS, ReleaseFacts, other_names, read_facts
from wardround.releases.signature import PublicKey
from wardround.releases.verify import faults


@dataclass(frozen=True)
class Release:
    """What a release folder holds, as far as a site needs it.

    Attributes:
        verified: whether its signature was checked.
        sha256: of its list of checksums, which stands for every file of it.
    """

    facts: ReleaseFacts
    checkpoint: Checkpoint
    outcome: AcceptanceOutcome
    statistics: InputStatistics | None
    verified: bool
    sha256: str


def read_release(folder: Path, key: PublicKey | None = None) -> Release:
    """Reads a release whose files are as its list of checksums has them.

    Args:
        folder: such as releases/STUDY/v1.
        key: of whoever signs releases, got from them; without one the signature is not checked.

    Raises:
        WardroundError: it is no release, was changed, or is signed by another key.
    """
    if not (folder / FACTS).is_file():
        raise WardroundError(Reason.DATA_MISSING, f"{folder}: no release; name a folder such as releases/STUDY/v1")
    wrong = faults(folder, key) if key is not None else differences(folder)
    if wrong:
        raise WardroundError(
            Reason.DATA_UNREADABLE,
            f"{folder}: not as it was released ({'; '.join(wrong)}); copy the whole folder again",
        )
    facts = read_facts(folder)
    if found := other_names(folder, facts):
        raise WardroundError(Reason.DATA_UNREADABLE, f"{folder}: {found[0]}; put each release back under its own name")
    try:
        outcome = AcceptanceOutcome.model_validate_json((folder / "acceptance.json").read_bytes())
    except (OSError, ValidationError) as error:
        raise WardroundError(
            Reason.DATA_UNREADABLE, f"{folder}: written by another version of wardround: {error}"
        ) from error
    statistics = read_input_statistics(folder / FILE_NAME)
    return Release(
        facts,
        load_checkpoint(folder / "model"),
        outcome,
        statistics,
        verified=key is not None,
        sha256=sha256_of(folder / LIST),
    )
