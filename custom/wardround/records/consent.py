"""What a hospital agreed to, and when it stopped agreeing: the lines of a study's consent file at a site."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

_Sha256 = Annotated[str, Field(pattern=r"^[a-f0-9]{64}$")]
_Words = Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S")]

# How long the server waits says nothing of what is done with patients' data. The quorum does: a mean of fewer
# hospitals tells more of each; so do the GPUs, which are taken from the hospital's own work.
NOT_ASKED_ABOUT = (
    "federation.round_deadline_seconds",
    "federation.grace_period_seconds",
    "federation.prepare_deadline_seconds",
)


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Subject(_Record):
    """What a consent is about: a study and the code that carries it out.

    Args:
        study_sha256: of the whole job.yaml, the data contract included.
        settings: that job.yaml, so that a later difference can be shown.
        package_sha256: over the installed code, see `records.code`.
        image_digest: of the container image in which the site's jobs run; None where they run in none, or in one
            whose digest nobody told.
    """

    study_sha256: _Sha256
    settings: dict[str, Any]
    package_sha256: _Sha256
    image_digest: str | None = Field(None, pattern=r"^sha256:[a-f0-9]{64}$")


class Approval(_Record):
    """Somebody agreed.

    Args:
        time: ISO 8601 in UTC.
        person: who answers for it at the hospital.
        ethics_reference: of the decision that it rests on.
        contract_sha256: of the data contract alone, as sites and server compare it.
    """

    kind: Literal["approval"] = "approval"
    time: str
    person: _Words
    ethics_reference: _Words
    contract_sha256: _Sha256
    subject: Subject


class Revocation(_Record):
    """Somebody took it back."""

    kind: Literal["revocation"] = "revocation"
    time: str
    person: _Words
    why: _Words


Decision = Annotated[Approval | Revocation, Field(discriminator="kind")]
DECISION: TypeAdapter[Approval | Revocation] = TypeAdapter(Decision)


def differences(approved: Subject, asked: Subject) -> list[str]:
    """What is asked for now against what was approved, one line a setting or hash; empty where nobody has to be asked.

    Settings in `NOT_ASKED_ABOUT` are not told: an approval holds whatever they are.
    """
    before, now = dict(_flat(approved.settings)), dict(_flat(asked.settings))
    unlike = [key for key in dict.fromkeys([*before, *now]) if before.get(key, ...) != now.get(key, ...)]
    told = [f"{key}: {_word(before, key)} -> {_word(now, key)}" for key in unlike if key not in NOT_ASKED_ABOUT]
    if not unlike and approved.study_sha256 != asked.study_sha256:
        told.append(f"job.yaml: {approved.study_sha256} -> {asked.study_sha256}")
    if approved.package_sha256 != asked.package_sha256:
        told.append(f"installed code: {approved.package_sha256[:12]} -> {asked.package_sha256[:12]}")
    if approved.image_digest != asked.image_digest:
        told.append(f"image: {approved.image_digest or 'none told'} -> {asked.image_digest or 'none told'}")
    return told


def _flat(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in settings.items():
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _word(settings: Mapping[str, Any], key: str) -> str:
    return repr(settings[key]) if key in settings else "not there"
