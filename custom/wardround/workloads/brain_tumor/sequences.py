"""Which of a site's file suffixes or channel names is which sequence: by name, never by position."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from wardround.records.faults import fault
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.brain_tumor.settings import SEQUENCES, BrainTumorSiteSettings

_BUILT_IN = {
    "brats2018": {"t1n": ("t1",), "t1c": ("t1ce",), "t2w": ("t2",), "t2f": ("flair",)},
    "brats2023": {"t1n": ("t1n",), "t1c": ("t1c",), "t2w": ("t2w",), "t2f": ("t2f",)},
    "msd": {"t1n": ("t1w",), "t1c": ("t1gd",), "t2w": ("t2w",), "t2f": ("flair",)},
}


@dataclass(frozen=True)
class VolumeFile:
    """One volume: a 3D file, or one channel of a 4D file."""

    file: Path
    channel: int | None = None
    channels: int | None = None  # how many the 4D file must have


@dataclass(frozen=True)
class SequenceNames:
    """The names, in lower case, under which each sequence may come, and the sequences that a case may lack."""

    names: dict[str, tuple[str, ...]]
    may_lack: frozenset[str]

    @classmethod
    def of(cls, site: BrainTumorSiteSettings, sequences: Sequence[str]) -> Self:
        """The layout's own names and the site's aliases.

        Raises:
            WardroundError: an alias is for an unknown sequence, or one name stands for two sequences.
        """
        known = {*SEQUENCES, *sequences}
        for key, given in (("aliases", set(site.aliases)), ("allow_missing", set(site.allow_missing))):
            if given - known:
                raise WardroundError(
                    Reason.CONFIGURATION_INVALID,
                    fault(
                        f"unknown sequence {', '.join(sorted(given - known))}",
                        key=key,
                        advice=f"known: {', '.join(sorted(known))}",
                    ),
                )
        built_in = _BUILT_IN[site.layout]
        names = {
            sequence: tuple(
                dict.fromkeys(
                    name.lower() for name in (*built_in.get(sequence, (sequence,)), *site.aliases.get(sequence, ()))
                )
            )
            for sequence in [*SEQUENCES, *(s for s in sequences if s not in SEQUENCES)]
        }
        _refuse_shared_names(names)
        return cls({s: names[s] for s in sequences}, frozenset(site.allow_missing))


def choose_sequences(files: dict[str, list[VolumeFile]], names: SequenceNames, case: str) -> dict[str, VolumeFile]:
    """The volume of each sequence, in the study's order.

    Raises:
        WardroundError: a sequence has no file and may not be lacking, or has more than one.
    """
    chosen = {}
    present = {name.lower(): (name, volumes) for name, volumes in files.items()}
    for sequence, candidates in names.names.items():
        matches = [volume for name in candidates if name in present for volume in present[name][1]]
        if len(matches) > 1:
            found = ", ".join(dict.fromkeys(match.file.name for match in matches))
            raise WardroundError(
                Reason.SEQUENCE_AMBIGUOUS,
                fault(f"{len(matches)} volumes for {sequence}: {found}", case=case, expected="one", advice="keep one"),
            )
        if matches:
            chosen[sequence] = matches[0]
        elif sequence not in names.may_lack:
            found = ", ".join(sorted(files)) or "none"
            raise WardroundError(
                Reason.SEQUENCE_MISSING,
                fault(
                    f"no {sequence}, found {found}",
                    case=case,
                    expected=" or ".join(candidates),
                    advice=f"name it in `aliases`, or list {sequence} in `allow_missing`",
                ),
            )
    if not chosen:
        raise WardroundError(Reason.SEQUENCE_MISSING, fault("no sequence at all", case=case, advice="left out"))
    return chosen


def _refuse_shared_names(names: dict[str, tuple[str, ...]]) -> None:
    owner: dict[str, str] = {}
    for sequence, candidates in names.items():
        for name in candidates:
            if owner.setdefault(name, sequence) != sequence:
                raise WardroundError(
                    Reason.CONFIGURATION_INVALID,
                    fault(
                        f"{name!r} would be both {owner[name]} and {sequence}",
                        key="aliases",
                        expected="one name, one sequence",
                    ),
                )
