"""A first look at all cases that reads no more than headers: what lies where, before anything is decompressed."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from wardround.records.reasons import WardroundError
from wardround.workloads.brain_tumor.gathered import Gathered
from wardround.workloads.brain_tumor.geometry import oriented_place, refuse_other_grid
from wardround.workloads.brain_tumor.layouts import CaseFiles
from wardround.workloads.brain_tumor.nifti_file import Header, read_header
from wardround.workloads.brain_tumor.place import Place, place_of
from wardround.workloads.brain_tumor.sequences import VolumeFile
from wardround.workloads.progress import Progress, unseen


@dataclass(frozen=True)
class HeaderPass:
    """What headers tell.

    Args:
        places: of each case that may be usable, where its first sequence lies in its file.
        problems: of the others, why they are not, by case.
    """

    places: dict[str, Place] = field(default_factory=dict)
    problems: dict[str, WardroundError] = field(default_factory=dict)


def look_at_headers(cases: Sequence[CaseFiles], orientation: str, *, progress: Progress = unseen) -> HeaderPass:
    """Looks at each file of each case, by the same functions that preparing it does.

    Args:
        cases: as found.
        orientation: of the contract, in which grids are compared.
        progress: is told how many cases are done.
    """
    looked = HeaderPass()
    for number, files in enumerate(cases, 1):
        try:
            looked.places[files.case] = place_of_case(files, orientation)
        except WardroundError as error:
            looked.problems[files.case] = error
        progress("headers of cases", number, len(cases))
    return looked


def place_of_case(files: CaseFiles, orientation: str) -> Place:
    """Where the first sequence of a case lies; all other sequences and the label lie there too.

    Raises:
        WardroundError: a file is unreadable, cannot be placed in space, or lies on another grid; all such are told.
    """
    told = Gathered()
    headers: dict[Path, Header] = {}
    places: list[Place] = []
    label = [VolumeFile(files.label)] if files.label else []
    for volume in [*files.volumes.values(), *label]:
        with told:
            header = headers.get(volume.file) or headers.setdefault(volume.file, read_header(volume.file))
            places.append(place_of(header, volume.channels))
    for place in places[1:]:
        if place.shape == places[0].shape and np.array_equal(place.affine, places[0].affine):
            continue  # as most do: turning thousands of affines takes longer than reading them
        with told:
            refuse_other_grid(oriented_place(place, orientation), oriented_place(places[0], orientation))
    told.refuse()
    return places[0]
