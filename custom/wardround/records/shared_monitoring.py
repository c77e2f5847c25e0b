"""What a hospital tells the server of a look at a released model: how many of what, no figure and no input's name."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from wardround.records.codes import RELEASE_VERSION, Code, Count, Digest
from wardround.records.study import STUDY_NAME

Shift = Literal["stable", "moderate", "large", "too_few", "not_comparable"]
"""`too_few`: it moved, over so few patients that nobody can tell whether by chance. `not_comparable`: the release has
one cell of it, in which every distribution is the same."""

NAME = "monitoring"
"""What it is called where it is held back."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class SharedCriterion(_Part):
    """A criterion of the release on a site's own figure, held against the new cases.

    Args:
        metric: the figure's name.
        met: None where the cases are too few to tell, and where the figure may not leave: it would tell of that.
        support: patients whom the figure rests on, by which a site's disclosure rules go. It stays at the site.
    """

    metric: Code
    met: bool | None
    support: Count | None = None


class SharedMonitoring(_Part):
    """One look. With `support` it is the site's own; without, and past the gate, it may leave.

    Args:
        study, version, release_sha256: of the release; the hash is that of its list of checksums, `SHA256SUMS`.
        date: of the look.
        patients, cases: how many were looked at.
        criteria: those that a site can check by itself.
        inputs: how many inputs moved how far.
    """

    study: str = Field(pattern=STUDY_NAME)
    version: str = Field(pattern=RELEASE_VERSION)
    release_sha256: Digest
    date: str = Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")
    patients: Count
    cases: Count
    criteria: list[SharedCriterion]
    inputs: dict[Shift, Count]

    @property
    def missed(self) -> list[str]:
        """Names of the figures whose criterion is no longer met."""
        return [criterion.metric for criterion in self.criteria if criterion.met is False]

    @property
    def stands_out(self) -> bool:
        """Whether somebody should look into it: a criterion is missed, or an input moved."""
        return bool(self.missed or self.inputs.get("moderate") or self.inputs.get("large"))
