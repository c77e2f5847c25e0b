"""What a study decides beforehand that a model must reach before it may be released."""

from collections.abc import Iterable
from typing import Annotated

from pydantic import ConfigDict, Field

from wardround.records.codes import Code
from wardround.records.reasons import Reason, WardroundError
from wardround.records.section import Section

_Margin = Annotated[float, Field(ge=0)]


class Acceptance(Section):
    """`acceptance` of job.yaml: criteria for a release. Figures are of test cases.

    Each is held against a bound of a 95 % interval, never against the figure alone: the bound that is worse for the
    model. A figure without an interval, of too few cases, suppressed, undefined or missing meets nothing. Without a
    criterion nothing is ever released.
    """

    model_config = ConfigDict(allow_inf_nan=False)

    worst_site: dict[Code, float] = Field(
        default_factory=dict,
        description="figure to what its interval must not fall short of at any site, those outside included: at least "
        "this where higher is better, at most this where lower is",
    )
    worse_than_alone: dict[Code, _Margin] = Field(
        default_factory=dict,
        description="figure to how much worse than its own model, trained without the others, a training site may be: "
        "the whole paired interval must lie within it; 0 or more",
    )

    @property
    def names(self) -> list[str]:
        """The figures that criteria are about."""
        return list(dict.fromkeys([*self.worst_site, *self.worse_than_alone]))


def check_acceptance(acceptance: Acceptance, names: Iterable[str], compared: Iterable[str]) -> None:
    """Refuses a criterion that can never be met, before anything is trained.

    Args:
        acceptance: the study's.
        names: figures of test cases.
        compared: figures that paired differences are made of.

    Raises:
        WardroundError: a criterion on a figure that there is not, with those that there are.
    """
    for section, limits, known in (
        ("worst_site", acceptance.worst_site, sorted(names)),
        ("worse_than_alone", acceptance.worse_than_alone, sorted(compared)),
    ):
        for name in limits:
            if name not in known:
                raise WardroundError(
                    Reason.METRIC_UNKNOWN,
                    f"acceptance.{section}.{name}: is not reported for test cases; choose of {', '.join(known)}",
                )
