"""The words that a site's answer in a study may be written in, known without opening the site's data. Torch-free.

A workload's folder holds a `words.py` with `words(settings)`; what a site says in other words stays at the site.
"""

import importlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from wardround.records.reasons import Reason, WardroundError
from wardround.records.words import CODES
from wardround.workloads.split import SPLITS

COMMON_COUNTS = frozenset(
    {
        *(f"{split}_{what}" for split in SPLITS for what in ("patients", "cases", "positive")),
        "left_out",
    }
)


@dataclass(frozen=True)
class Words:
    """One study's words.

    Args:
        figures: names of records.
        sums: pattern of a tally's name to the pattern of its counts' names; both match the whole of it.
        cohorts: name of a division of the patients to the names of its parts.
        counts: names in `SiteManifest.counts` beyond those that all workloads have.
        codes: reasons and notes beyond those that all workloads have.
    """

    figures: frozenset[str]
    sums: Mapping[str, str] = field(default_factory=dict)
    cohorts: Mapping[str, frozenset[str]] = field(default_factory=dict)
    counts: frozenset[str] = frozenset()
    codes: frozenset[str] = frozenset()

    def knows_count(self, name: str) -> bool:
        """Whether a manifest may tell a count of that name."""
        return name in COMMON_COUNTS or name in self.counts

    def knows_code(self, word: str) -> bool:
        """Whether it is a reason or a note of ours."""
        return word in CODES or word in self.codes

    def knows_sum(self, name: str) -> bool:
        """Whether a tally may have that name."""
        return any(re.fullmatch(pattern, name) for pattern in self.sums)

    def knows_sum_of(self, name: str, counts: Mapping[str, float]) -> bool:
        """Whether a tally may have that name with those counts."""
        keys = [key for pattern, key in self.sums.items() if re.fullmatch(pattern, name)]
        return any(all(re.fullmatch(key, count) for count in counts) for key in keys)


def words_of(settings: Mapping[str, Any]) -> Words:
    """The words of a study, by its `workload` section.

    Raises:
        WardroundError: the workload says none, so no site could tell a figure.
    """
    settings = dict(settings)
    kind = settings.pop("kind")
    try:
        made: Callable[[Mapping[str, Any]], Words] = importlib.import_module(f"wardround.workloads.{kind}.words").words
    except (ModuleNotFoundError, AttributeError) as error:
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            f"workload.kind {kind}: no words.py says which names its figures and sums have, so none may leave; "
            "write one",
        ) from error
    return made(settings)
