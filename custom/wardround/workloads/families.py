"""What a workload's vocabulary says of a figure, by the name of its record."""

import importlib
from importlib.util import find_spec

from wardround.workloads.vocabulary import Family, Vocabulary


def family_of(name: str, kind: str) -> Family | None:
    """The family with the longest key that is the name or begins it: `brier_skill` is no `brier`.

    Args:
        name: of a record.
        kind: of the workload.

    Returns:
        None for a name that the vocabulary does not know, and for a workload without one.
    """
    package = f"wardround.workloads.{kind}"
    module = f"{package}.vocabulary"
    if find_spec(package) is None or find_spec(module) is None:
        return None
    vocabulary: Vocabulary = importlib.import_module(module).VOCABULARY
    fits = [family for family in vocabulary.families if name == family.key or name.startswith(f"{family.key}_")]
    return max(fits, key=lambda family: len(family.key), default=None)
