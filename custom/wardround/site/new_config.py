"""The site.yaml that `wardround site init` writes, with the comments that its admin needs."""

import importlib
import pkgutil
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any, Protocol

from wardround import workloads
from wardround.records.reasons import Reason, WardroundError
from wardround.records.yaml_text import as_scalar

_ROLES = {
    "train": "train, or evaluate: only scored",
    "evaluate": "an outside hospital: only scored, never trained on or selected by",
}
_GENERATED = (
    "synthetic: true               # generated data, so a report may show its pictures; leave out for patients\n"
)
_HEAD = """\
# What {name}'s admin decides. A job cannot override any of it. Paths start from this file's folder.
name: {name}{gap} # as in the site's certificate
role: {role}{role_gap} # {role_meaning}
{generated}device: {device}{device_gap} # cpu, cuda or cuda:N
state_folder: {state}   # stays here: own network entries, scores by case, pictures
cache_folder: {cache}   # prepared cases; safe to delete
disclosure:                   # what may leave; a job cannot change it
  minimum_patients: 3         # fewest patients behind any figure, and to train with
  minimum_cell: 5             # fewest patients behind a sum, a bin by class, a cohort's figure or a small count

data:
"""


class SiteSection(Protocol):
    """A workload's `site_section.py`.

    Attributes:
        QUESTION: what an admin at a terminal is asked for.
        IMAGE: the target of docker/Dockerfile that its jobs run in.
    """

    QUESTION: str
    IMAGE: str

    def section_text(self, data: str, *, role: str, generated: bool) -> str:
        """The section of a new site.yaml, for this folder or file with the data."""

    def folder_of(self, data: str) -> str:
        """The folder that a job's container has to see for this folder or file."""


def site_yaml(
    name: str, *, role: str, device: str, state: str, cache: str, data: Mapping[str, str], generated: bool
) -> str:
    """The file's text.

    Args:
        name: of the site, as in its certificate.
        role: train or evaluate.
        device: cpu, cuda or cuda:N.
        state, cache: folders.
        data: kind of workload to the folder or file with its data here.
        generated: no patient is in the data.

    Raises:
        WardroundError: a kind has no section to start with.
    """
    head = _HEAD.format(
        name=as_scalar(name),
        gap=_gap(name, 23),
        role=role,
        role_gap=_gap(role, 23),
        role_meaning=_ROLES[role],
        generated=_GENERATED if generated else "",
        device=device,
        device_gap=_gap(device, 21),
        state=as_scalar(state),
        cache=as_scalar(cache),
    )
    sections = [site_section(kind).section_text(path, role=role, generated=generated) for kind, path in data.items()]
    return head + "\n".join(sections)


def site_section(kind: str) -> SiteSection:
    """What a kind of workload brings for a new site.

    Raises:
        WardroundError: there is no such kind.
    """
    try:
        section: Any = importlib.import_module(f"{workloads.__name__}.{kind}.site_section")
    except ModuleNotFoundError as error:
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            f"data: {kind!r}: no section of that kind to start site.yaml with; there are {', '.join(questions())}",
        ) from error
    found: SiteSection = section
    return found


def questions() -> dict[str, str]:
    """Each kind of workload that a new site may have data for, to what its admin is asked for."""
    kinds = [one.name for one in pkgutil.iter_modules(workloads.__path__) if one.ispkg]
    with_section = [kind for kind in kinds if find_spec(f"{workloads.__name__}.{kind}.site_section")]
    return {kind: site_section(kind).QUESTION for kind in with_section}


def _gap(value: str, width: int) -> str:
    return " " * max(0, width - len(value))
