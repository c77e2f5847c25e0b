"""Whether a hospital has agreed to a study, in a file of its own: nothing is done for a study before."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import yaml
from pydantic import ValidationError

from wardround.records.code import code_facts
from wardround.records.consent import DECISION, Approval, Revocation, Subject, differences
from wardround.records.files import locked, private_folder, write_whole
from wardround.records.reasons import Reason, WardroundError
from wardround.records.site_status import StudyConsent, in_utc
from wardround.records.study import Study
from wardround.site.config import SiteConfig
from wardround.site.refusal import Refusal


def subject_of(study: Study, image_digest: str | None = None) -> Subject:
    """What this process would be asked to agree to: the study, its own code, and its image.

    Args:
        study: as the job has it.
        image_digest: of the image that jobs will run in; by default that of this process.
    """
    code = code_facts()
    return Subject(
        study_sha256=study.digest(),
        settings=study.model_dump(mode="json"),
        package_sha256=code.package_sha256,
        image_digest=image_digest or code.image_digest,
    )


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
            lines = self.file.read_bytes().splitlines()
            return [DECISION.validate_json(line) for line in lines if line.strip()]
        except (FileNotFoundError, NotADirectoryError):  # with no such folder there is no decision either
            return []
        except (OSError, ValidationError) as error:
            raise WardroundError(
                Reason.CONSENT_MISSING,
                f"{self.file}: cannot be read as decisions on a study ({_first_line(error)}); restore it from a "
                "backup, or move it away and decide again",
            ) from error

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


class Consent:
    """The rule: every task of a study needs an approval of this very study, code and image that was not taken back.

    Where no approval is needed (see `needs_consent`) a revocation ends the study all the same, and so does a file
    that may hold one and cannot be read.

    Args:
        study: as the job has it.
        config: of the site.
    """

    def __init__(self, study: Study, config: SiteConfig) -> None:
        self._study, self._consent = study, ConsentFile(config.state_folder, study.name)
        self._subject = subject_of(study) if needs_consent(config) else None
        self._seen: tuple[int, int, int] | None = None
        self._known: Refusal | None = None
        self._looked = False

    def refusal(self, task: str = "", now: datetime | None = None) -> Refusal | None:  # noqa: ARG002 - whatever, whenever
        """See `Rule.refusal`; the file is read again only where it has changed."""
        seen = _state(self._consent.file)
        if not self._looked or seen != self._seen:
            self._looked, self._seen, self._known = True, seen, self._judge()
        return self._known

    def _judge(self) -> Refusal | None:
        try:
            last = self._consent.last()
        except WardroundError as error:
            return Refusal(error.code, str(error))
        if isinstance(last, Revocation):
            return Refusal(
                Reason.CONSENT_REVOKED,
                f"{last.person} revoked this hospital's consent to {self._study.name} on {last.time}: {last.why}",
            )
        if self._subject is None:
            return None
        changed = differences(last.subject, self._subject) if last else []
        if last and not changed:
            return None
        self._consent.keep_asked(self._study)
        way = (
            f"look at {self._consent.asked}, then: wardround site approve {self._consent.asked} --site KIT_OR_SITE_YAML"
        )
        if last is None:
            return Refusal(Reason.CONSENT_MISSING, f"nobody at this hospital has approved {self._study.name}: {way}")
        return Refusal(
            Reason.CONSENT_CHANGED,
            f"{self._study.name} is not what {last.person} approved on {last.time}: {'; '.join(changed)}: {way}",
        )


def needs_consent(config: SiteConfig) -> bool:
    """Whether an approval is needed first: generated data has no patients, and published data is out already."""
    return config.nature == "hospital" and not config.public_data


def require_consent(study: Study, config: SiteConfig) -> None:
    """For what is done at a site without its executor.

    Raises:
        WardroundError: the hospital has not agreed to this study, or not any more.
    """
    if refusal := Consent(study, config).refusal():
        raise refusal.error()


def now_in_utc() -> str:
    """The time of a decision."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def consents(state_folder: Path) -> list[StudyConsent]:
    """The decision that holds on each study that somebody has decided on here, for the admin's view."""
    studies = sorted(file.stem for file in (state_folder / "consent").glob("*.jsonl"))
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


def _state(file: Path) -> tuple[int, int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def _first_line(error: OSError | ValidationError) -> str:
    if isinstance(error, ValidationError):
        return str(error.errors()[0]["msg"])
    return error.strerror or type(error).__name__
