"""The decisions on a study at a hospital, in a file of its own, the newest last."""

import errno
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import yaml
from pydantic import ValidationError

from wardround.records.consent import DECISION, Approval, Revocation
from wardround.records.files import locked, private_folder, write_whole
from wardround.records.reasons import Reason, WardroundError
from wardround.records.site_status import StudyConsent, in_utc
from wardround.records.study import Study

_RESTORE = "restore it from a backup, or move it away and decide again"


class ConsentFile:
    """`<state_folder>/consent/<study>.jsonl`: every decision on one study, the newest last.

    Args:
        state_folder: the site's.
        study: its name.
    """

    def __init__(self, state_folder: Path, study: str) -> None:
        self.file = state_folder / "consent" / f"{study}.jsonl"
        self.asked = state_folder / "consent" / f"{study}.asked.yaml"
        self._study, self._lock = study, state_folder / "consent" / f".{study}.lock"

    def decisions(self) -> list[Approval | Revocation]:
        """All of them, oldest first; empty where nobody has decided.

        Raises:
            WardroundError: the file is damaged: what it said is not known, so nothing is agreed to.
        """
        try:
            content = self.file.read_bytes() if self._is_there() else None
        except OSError as error:
            advice = "let this user read it" if isinstance(error, PermissionError) else _RESTORE
            raise self._damaged("", error.strerror or type(error).__name__, advice) from error
        if content is None:
            return []
        lines = [(number, line) for number, line in enumerate(content.splitlines(), 1) if line.strip()]
        if not lines:
            raise self._damaged("", "it is there and holds none")  # what it held was lost
        return [self._decision(number, line) for number, line in lines]

    def _is_there(self) -> bool:
        """A link that leads nowhere is there, and reading a pipe would never end.

        Raises:
            OSError: nobody can tell, or it is no plain file.
        """
        for place in (self.file.parent, self.file):
            try:
                place.lstat()
            except (FileNotFoundError, NotADirectoryError):  # with no such folder there is no decision either
                return False
            place.stat()
        if not self.file.is_file():
            raise OSError(errno.EINVAL, "it is no plain file")
        return True

    def _decision(self, number: int, line: bytes) -> Approval | Revocation:
        try:
            return DECISION.validate_json(line)
        except ValidationError as error:
            raise self._damaged(f", line {number}", str(error.errors()[0]["msg"])) from error

    def _damaged(self, place: str, found: str, advice: str = _RESTORE) -> WardroundError:
        return WardroundError(
            Reason.CONSENT_MISSING,
            f"{self.file}{place}: cannot be read as decisions on a study ({found}), so nothing is done for "
            f"{self._study}; {advice}",
        )

    def last(self) -> Approval | Revocation | None:
        """The one that holds."""
        return next(reversed(self.decisions()), None)

    def add(self, decision: Approval | Revocation, *, knowing: Sequence[Approval | Revocation] | None = None) -> None:
        """Adds one; the file is whole before and after, and of two that are added at once both are in it.

        Args:
            decision: the newest.
            knowing: the decisions that whoever decides has seen; by default whatever there is.

        Raises:
            WardroundError: the file is damaged, or there is a decision that they have not seen: an approval would
                undo a revocation that they know nothing of.
            OSError: the state folder cannot be written.
        """
        with locked(self._lock):
            before = self.decisions()
            if knowing is not None and before != list(knowing):
                raise WardroundError(
                    Reason.CONSENT_CHANGED,
                    f"{self.file}: {self._study} was decided on meanwhile, and is now "
                    f"{told(before[-1]) if before else 'not decided on'}; decide again, knowing that",
                )
            lines = [DECISION.dump_json(one) + b"\n" for one in (*before, decision)]
            write_whole(self.file, b"".join(lines), private=True)

    def keep_asked(self, study: Study) -> None:
        """Writes what a job asked for, to be looked at and approved as it is; where that fails, nothing is lost."""
        text = yaml.safe_dump(study.model_dump(mode="json"), sort_keys=False, allow_unicode=True)
        try:
            private_folder(self.asked.parent)
            write_whole(self.asked, text.encode(), private=True)
        except OSError:
            return


def now_in_utc() -> str:
    """The time of a decision."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def consents(state_folder: Path) -> list[StudyConsent]:
    """The decision that holds on each study that somebody has decided on here, for the admin's view.

    Raises:
        OSError: the folder of decisions cannot be read.
    """
    try:
        studies = sorted(file.stem for file in (state_folder / "consent").iterdir() if file.suffix == ".jsonl")
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [_consent(state_folder, study) for study in studies]


def _consent(state_folder: Path, study: str) -> StudyConsent:
    try:
        last = ConsentFile(state_folder, study).last()
    except WardroundError as error:
        return StudyConsent(study, approved=False, told=str(error))
    return StudyConsent(study, approved=isinstance(last, Approval), told=told(last) if last else "nobody has decided")


def told(decision: Approval | Revocation) -> str:
    """One in words: `approved by ..., ethics reference, time`."""
    time = in_utc(decision.time)
    if isinstance(decision, Approval):
        return f"approved by {decision.person}, {decision.ethics_reference}, {time}"
    return f"revoked by {decision.person}, {time}: {decision.why}"
