"""The site.yaml that `wardround site init` writes, with the comments that its admin needs."""

import importlib
from collections.abc import Callable, Mapping

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

data:
"""


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
    sections = [_section(kind)(path, role=role, generated=generated) for kind, path in data.items()]
    return head + "\n".join(sections)


def _section(kind: str) -> Callable[..., str]:
    try:
        text: Callable[..., str] = importlib.import_module(f"wardround.workloads.{kind}.site_section").section_text
    except ModuleNotFoundError as error:
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            f"data: {kind!r}: no section of that kind to start site.yaml with; write it by hand, see its workload",
        ) from error
    return text


def _gap(value: str, width: int) -> str:
    return " " * max(0, width - len(value))
