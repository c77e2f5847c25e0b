"""release.json: which release a folder is."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from wardround.records.codes import RELEASE_VERSION
from wardround.records.reasons import Reason, WardroundError
from wardround.records.study import STUDY_NAME

FACTS = "release.json"


class ReleaseFacts(BaseModel):
    """Which model of which run this is, who approved it, and by which key it is signed.

    Args:
        statistics: whether the release holds the statistics of its training inputs, in statistics.json.
        key_sha256: of the public key, see `fingerprint`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["wardround-release-1"] = "wardround-release-1"
    study: str = Field(pattern=STUDY_NAME)
    version: str = Field(pattern=RELEASE_VERSION)
    run: str
    arm: str
    model_round: int
    approver: str
    released: str
    study_sha256: str
    contract_sha256: str | None
    weights_sha256: str
    statistics: bool
    key_sha256: str

    def in_words(self) -> str:
        """In one line."""
        return (
            f"{self.study} {self.version}: the {self.arm} model of run {self.run}, after round {self.model_round}; "
            f"approved by {self.approver}, {self.released}"
        )


def read_facts(folder: Path) -> ReleaseFacts:
    """Of a release's folder.

    Raises:
        WardroundError: it is not there, or not as a release's is.
    """
    file = folder / FACTS
    try:
        return ReleaseFacts.model_validate_json(file.read_bytes())
    except OSError as error:
        raise WardroundError(
            Reason.DATA_MISSING, f"{file}: {error.strerror or type(error).__name__}; copy the release's whole folder"
        ) from error
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        raise WardroundError(
            Reason.DATA_UNREADABLE,
            f"{file}: expected a release's facts, found {f'{key}: ' if key else ''}{first['msg']}; copy the release's "
            "whole folder again, or use the version of wardround that wrote it",
        ) from error


def other_names(folder: Path, facts: ReleaseFacts) -> list[str]:
    """Where a release lies in its study's folder under another version, what is wrong; an old one passes for a new."""
    place = folder.resolve()
    if place.parent.name != facts.study or place.name == facts.version:
        return []
    return [f"{FACTS}: expected {place.name}, as the folder is named, found {facts.version}: it is another release"]
