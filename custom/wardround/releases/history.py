"""Which release of a study is the current one, and how it came to be: `releases/<study>/current`."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from wardround.records.changed import changed
from wardround.records.files import write_whole
from wardround.records.reasons import Reason, WardroundError
from wardround.records.study import refuse_other_name
from wardround.releases.checksums import LIST, differences
from wardround.releases.facts import other_names, read_facts
from wardround.releases.signature import PublicKey
from wardround.releases.verify import faults

FILE_NAME = "current"
_LOCK = ".lock"


class Step(BaseModel):
    """One change of the current release."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    action: Literal["release", "rollback"]
    time: str
    who: str
    before: str | None = Field(alias="from")
    after: str = Field(alias="to")
    why: str


class History(BaseModel):
    """The whole file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["wardround-current-1"] = "wardround-current-1"
    study: str
    current: str | None = None
    history: list[Step] = Field(default_factory=list)

    def previous(self) -> str | None:
        """What was current when the current release was made: a release that was rolled back is not gone back to."""
        made = [step for step in self.history if step.action == "release" and step.after == self.current]
        return made[-1].before if made else None


def read_history(folder: Path) -> History:
    """Of a study's folder; without a release it is empty.

    Raises:
        WardroundError: the file is no history, is another study's, or is missing though there are releases.
    """
    file = folder / FILE_NAME
    try:
        history = History.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        there = sorted(one.parent.name for one in folder.glob(f"*/{LIST}") if not one.parent.name.startswith("."))
        if there:
            raise WardroundError(
                Reason.DATA_MISSING,
                f"{file}: missing, though {', '.join(there)} are there: which of them was current is not known; "
                "restore it from a copy, or move those releases away to begin anew",
            ) from None
        return History(study=folder.name)
    except (OSError, ValidationError) as error:
        found = error.strerror if isinstance(error, OSError) else error.errors()[0]["msg"]
        raise WardroundError(
            Reason.DATA_UNREADABLE,
            f"{file}: not the history of a study's releases: {found}; restore it from a copy",
        ) from error
    if history.study != folder.resolve().name:
        raise WardroundError(
            Reason.DATA_UNREADABLE,
            f"{file}: study: expected {folder.resolve().name}, as the folder is named, found {history.study}; restore "
            "it from a copy",
        )
    return history


def keep_history(folder: Path, history: History) -> None:
    """Writes the history before a first release, so that a kill right after that is no lost history."""
    if not (folder / FILE_NAME).exists():
        write_whole(folder / FILE_NAME, _text(history))


def point_forward(folder: Path, history: History, version: str, *, who: str, why: str) -> History:
    """Makes a new release the current one.

    Args:
        folder: of the study's releases, which the caller has `locked` since it read the history.
        history: as it was before the release.
        version: of the release.
        who, why: for the history.
    """
    return _step(folder, history, "release", version, who, why)


def roll_back(releases: Path, study: str, *, who: str, why: str, key: PublicKey | None = None) -> History:
    """Points back to the release before the current one.

    Args:
        releases: the folder of all studies' releases.
        study: its name.
        who, why: for the history.
        key: of whoever signs releases. Without it a release that was changed together with its list of checksums
            passes.

    Raises:
        WardroundError: there is none, or it is no longer whole, another one, or not signed by this key.
    """
    refuse_other_name(study)
    folder = releases / study
    if not folder.is_dir():
        known = sorted(file.parent.name for file in releases.glob(f"*/{FILE_NAME}"))
        raise WardroundError(
            Reason.DATA_MISSING,
            f"{folder}: missing; no release of this study is there, but of {', '.join(known) or 'no other'}; name the "
            "study as its job.yaml does, or another folder with --releases",
        )
    with locked(folder):
        history = read_history(folder)
        before = history.previous()
        if before is None:
            raise WardroundError(
                Reason.DATA_MISSING,
                f"{folder / FILE_NAME}: no release before {history.current or 'the first'}, so there is none to go "
                "back to",
            )
        if not (folder / before).is_dir():
            raise WardroundError(Reason.DATA_MISSING, f"{folder / before}: missing; put the release back from a copy")
        wrong = differences(folder / before) if key is None else faults(folder / before, key)
        wrong = wrong or other_names(folder / before, read_facts(folder / before))
        if wrong:
            raise WardroundError(
                Reason.DATA_UNREADABLE,
                f"{folder / before}: not as it was released ({'; '.join(wrong)}); put it back from a copy",
            )
        return _step(folder, history, "rollback", before, who, why)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Holds off other commands that would change the same study's releases."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / _LOCK).open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def _step(
    folder: Path, history: History, action: Literal["release", "rollback"], version: str, who: str, why: str
) -> History:
    step = Step.model_validate(
        {
            "action": action,
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
            "who": who,
            "from": history.current,
            "to": version,
            "why": why,
        }
    )
    longer = changed(history, current=version, history=[*history.history, step])
    write_whole(folder / FILE_NAME, _text(longer))
    return longer


def _text(history: History) -> bytes:
    return (history.model_dump_json(indent=2, by_alias=True) + "\n").encode()
