"""Whether a hospital has agreed to a study: nothing is done for a study before."""

from datetime import datetime
from pathlib import Path

from wardround.records.code import code_facts
from wardround.records.consent import Revocation, Subject, differences
from wardround.records.reasons import Reason, WardroundError
from wardround.records.study import Study
from wardround.site.config import SiteConfig
from wardround.site.consent_file import ConsentFile
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


def _state(file: Path) -> tuple[int, int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
