"""state-NNNNNN.json: what a server needs, beside weights, to go on with a run after a round."""

import re
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from wardround.records.codes import Count, Digest
from wardround.records.reasons import Reason, WardroundError
from wardround.records.study import Study
from wardround.records.unlike import unlike
from wardround.records.update import SiteManifest

FOLDER = "checkpoint"  # in a run's folder at the server, in the results' folder, and in a job that goes on
MAY_CHANGE = "federation."  # the section of a study whose settings a run that goes on may change
STATE_FILE = re.compile(r"^state-(\d{6})\.json$")
STORED_FILE = re.compile(r"^[a-z]+-\d{6}-[0-9a-f]{8}\.(safetensors|jsonl)$")


class StoredFile(BaseModel):
    """A file beside the state, by its bare name, and the SHA-256 of its bytes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern=STORED_FILE.pattern)
    sha256: Digest


class ServerState(BaseModel):
    """A run after `rounds_done` rounds.

    Args:
        wardround: the version that wrote it.
        run, environment, study, study_digest: as in the record's first line.
        model: the global model's shared entries, with which the next round begins.
        best, best_round: the best model so far.
        optimiser: the server optimiser's state, where the study has one.
        record: the run's record up to here.
        fixed_sites, scores: who must have a figure for a round to be chosen, and each model round's figures by site.
        acknowledged: site to the last round of its own that was accepted.
        expected, contributed: in how many rounds a site was asked, and accepted.
        partial: what makes the run partial so far.
        undefined_key, defined_there: sites where the key metric has no value: why, and the metrics that have one.
        manifests, missing: what the sites answered to `prepare`, and who did not.
        seconds: wall time so far.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["wardround_server_state_1"] = "wardround_server_state_1"
    wardround: str
    run: str
    environment: str
    study: dict[str, Any]
    study_digest: Digest
    rounds_done: Count
    model: StoredFile
    best: StoredFile | None = None
    best_round: Count | None = None
    optimiser: StoredFile | None = None
    record: StoredFile
    fixed_sites: tuple[str, ...]
    scores: dict[int, dict[str, float | None]]
    acknowledged: dict[str, int]
    expected: dict[str, Count]
    contributed: dict[str, Count]
    partial: list[str]
    undefined_key: dict[str, str] = Field(default_factory=dict)
    defined_there: dict[str, list[str]] = Field(default_factory=dict)
    manifests: list[SiteManifest]
    missing: dict[str, str]
    seconds: float = 0.0

    @property
    def files(self) -> list[StoredFile]:
        """All files that belong to it."""
        return [file for file in (self.model, self.best, self.optimiser, self.record) if file is not None]

    def settled_study(self) -> Study:
        """The study of the run."""
        return Study.model_validate(self.study)


def state_file(folder: Path, rounds_done: int) -> Path:
    """Where the state after so many rounds lies."""
    return folder / f"state-{rounds_done:06d}.json"


def rounds_kept(folder: Path) -> list[int]:
    """After how many rounds there are states in a folder, in order."""
    names = [file.name for file in folder.iterdir()] if folder.is_dir() else []
    return sorted(int(match.group(1)) for name in names if (match := STATE_FILE.match(name)))


def read_state(file: Path) -> ServerState:
    """Reads one state.

    Raises:
        WardroundError: it is missing, or is not as it was written.
    """
    try:
        state = ServerState.model_validate_json(file.read_bytes())
        sound = state.settled_study().digest() == state.study_digest
    except FileNotFoundError:
        raise WardroundError(Reason.DATA_MISSING, f"{file}: missing; name a folder that a server wrote") from None
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"])) or "the file"
        raise WardroundError(
            Reason.DATA_UNREADABLE, f"{file}: not a server's checkpoint ({key}: {first['msg']}); copy the folder again"
        ) from error
    if not sound:
        raise WardroundError(
            Reason.DATA_UNREADABLE,
            f"{file}: its study does not read as it was written: another wardround wrote it, or a copy changed it",
        )
    return state


def refuse_other_study(state: ServerState, study: Study) -> dict[str, tuple[Any, Any]]:
    """What has changed in the study's `federation` section since: deadlines and quorum may; nothing else.

    A run's schedule, seeds and kept entries rest on all the other settings, the number of rounds included: with other
    ones it would be neither the run that began nor a new one.

    Returns:
        Changed settings by their dotted key: before, and now.

    Raises:
        WardroundError: with the settings that differ.
    """
    changed = unlike(state.study, study.model_dump(mode="json"))
    fixed = {key: values for key, values in changed.items() if not key.startswith(MAY_CHANGE)}
    if fixed:
        told = "; ".join(f"{key}: {before!r:.60} in the run, {now!r:.60} now" for key, (before, now) in fixed.items())
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            f"the run's study cannot change except for {MAY_CHANGE}*, since its schedule and what the sites keep rest "
            f"on it ({told}); for another study start a new run",
        )
    return changed
