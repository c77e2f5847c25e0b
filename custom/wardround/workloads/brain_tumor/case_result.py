"""One scored case, with what its figures rest on."""

from dataclasses import dataclass

from wardround.metrics.dice import VoxelCounts
from wardround.records.scores import CaseScore


@dataclass(frozen=True)
class CaseResult:
    """Figures of one case.

    Args:
        score: them, by name.
        counts: voxels by region.
        finite: whether the network's output was.
    """

    score: CaseScore
    counts: dict[str, VoxelCounts]
    finite: bool

    @property
    def values(self) -> dict[str, float | None]:
        """Figures by name; None where a figure has no value on this case."""
        return self.score.values

    @property
    def patient(self) -> str:
        """Whose case it is."""
        return self.score.patient

    def is_positive(self, name: str) -> bool:
        """Whether the case holds what the figure `name` looks for."""
        region = name.rpartition("_")[2]
        if name.startswith("false_positive_volume_"):
            return self.counts[region].predicted > 0
        if region == "mean":
            return any(counts.reference for counts in self.counts.values())
        return self.counts[region].reference > 0
