"""The vocabularies of all installed workloads: a further workload brings its own and touches nothing here."""

import importlib
import pkgutil
from importlib.util import find_spec

from wardround import workloads
from wardround.workloads.vocabulary import Vocabulary

VOCABULARIES: dict[str, Vocabulary] = {}
"""By the workload's kind."""


def vocabulary_of(kind: str) -> Vocabulary:
    """A workload's words; those of an unknown kind are few and general."""
    return VOCABULARIES.get(kind, _GENERAL)


def _installed() -> dict[str, Vocabulary]:
    found = {}
    for package in pkgutil.iter_modules(workloads.__path__):
        module = f"{workloads.__name__}.{package.name}.vocabulary"
        if package.ispkg and find_spec(module) is not None:
            found[package.name] = importlib.import_module(module).VOCABULARY
    return found


_GENERAL = Vocabulary(families=())
VOCABULARIES.update(_installed())
