"""The words of all installed workloads, put together: a further workload brings its own and touches nothing here."""

import importlib
import pkgutil
from importlib.util import find_spec

from wardround import workloads
from wardround.workloads.vocabulary import Family, Vocabulary

VOCABULARIES: dict[str, Vocabulary] = {}
"""By the workload's kind."""


def family_of(name: str) -> tuple[Family, str]:
    """The family of a record name, and the part that the rest of the name stands for.

    An exact name wins over a beginning, and a longer beginning over a shorter one, so that `brier_skill` is not a part
    of `brier`. A name of no known family is its own family, where higher is taken as better.
    """
    if name in _FAMILIES:
        return _FAMILIES[name], ""
    key = max((key for key in _FAMILIES if name.startswith(f"{key}_")), key=len, default=None)
    if key is None:
        return Family(name, name.replace("_", " "), True), ""
    return _FAMILIES[key], name[len(key) + 1 :]


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
_FAMILIES = {family.key: family for words in VOCABULARIES.values() for family in words.families}
CODES = {code: text for words in VOCABULARIES.values() for code, text in words.codes.items()}
ARMS = {arm: text for words in VOCABULARIES.values() for arm, text in words.arms.items()}
SHORT_ARMS = {arm: text for words in VOCABULARIES.values() for arm, text in words.short_arms.items()}
