"""Whether disk and memory hold what preparing a site's images takes, told with numbers before any is prepared."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path

from wardround.records.faults import Fault, fault
from wardround.records.inspection import Finding, Severity
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.brain_tumor.geometry import oriented_place, read_volume
from wardround.workloads.brain_tumor.layouts import CaseFiles
from wardround.workloads.brain_tumor.place import Place, by
from wardround.workloads.brain_tumor.preprocess import FOREGROUND_SAMPLES, occupied_box, resampled_shape
from wardround.workloads.brain_tumor.settings import BrainTumorSettings, ImageContract, Triple
from wardround.workloads.free_room import free_disk, free_memory, in_gib

_SAMPLE = 5  # cases whose brains are measured where whole images would not fit
_ENTRY = 16 * 1024  # bytes of an entry beside its voxels, rounded up to blocks of the file system
_PEAK = 4 * 10  # bytes of a sequence's voxel while a case is prepared: float32, in ten arrays of its size


@dataclass(frozen=True)
class CaseSize:
    """What a case becomes.

    Args:
        shape: on the contract's spacing, before it is cropped to the brain: the header tells no more.
        stored: bytes in the cache, at most.
        peak: bytes of memory while it is prepared, at most.
        held: bytes of memory for as long as it is open: 0 where it is read from the cache as it is needed, as all are
            but those smaller than a training crop, which are padded.
    """

    shape: Triple
    stored: int
    peak: int
    held: int


def size_of(files: CaseFiles, place: Place, settings: BrainTumorSettings) -> CaseSize:
    """From a case's header: an upper bound, exact but for the crop."""
    contract, patch = settings.contract, settings.patch.size
    shape = _prepared_shape(place, contract)
    voxel = 4 * len(contract.sequences) + (3 if files.label else 0)  # float32 a sequence, a byte a region
    stored = prod(shape) * voxel + min(FOREGROUND_SAMPLES, prod(shape)) * 12 + _ENTRY
    padded = prod(max(side, least) for side, least in zip(shape, patch, strict=True))
    return CaseSize(
        shape,
        stored,
        peak=_PEAK * len(contract.sequences) * max(prod(shape), prod(place.shape)),
        held=padded * voxel if padded > prod(shape) else 0,
    )


def room_errors(
    cases: Sequence[CaseFiles],
    places: Mapping[str, Place],
    settings: BrainTumorSettings,
    *,
    kept: frozenset[str],
    folder: Path,
) -> list[Finding]:
    """An error for the disk and one for the memory, where what the cases become does not fit; else none.

    Args:
        cases: of which nothing speaks against yet.
        places: where each lies, by case.
        settings: the study's.
        kept: cases that are in the cache already.
        folder: of the cache.
    """
    sizes = {files.case: size_of(files, places[files.case], settings) for files in cases}
    new = [files for files in cases if files.case not in kept]
    short = [
        (Reason.DISK_TOO_SMALL, _disk_fault(new, sizes, folder)),
        (Reason.MEMORY_TOO_SMALL, _memory_fault(new, sizes)),
    ]
    return [Finding.of(Severity.ERROR, code, told) for code, told in short if told is not None]


def _disk_fault(new: Sequence[CaseFiles], sizes: Mapping[str, CaseSize], folder: Path) -> Fault | None:
    free = free_disk(folder)
    whole = sum(sizes[files.case].stored for files in new)
    if whole <= free:
        return None
    share = _largest_box(new)
    needed = whole * share
    if needed <= free:
        return None
    kept = len(sizes) - len(new)
    return fault(
        f"preparing {len(new):,} cases needs {in_gib(needed)}, and {in_gib(free)} are free",
        file=f"cache_folder {folder}",
        expected=f"{in_gib(needed)} free: {share:.0%} of {in_gib(whole)}, the most of an image that a brain takes"
        + (f"; {kept:,} cases are there already" if kept else ""),
        advice="free some, or name a cache_folder on a larger disk in site.yaml",
    )


def _memory_fault(new: Sequence[CaseFiles], sizes: Mapping[str, CaseSize]) -> Fault | None:
    held = [size.held for size in sizes.values() if size.held]
    largest = max(new, key=lambda files: sizes[files.case].peak, default=None)
    peak = 0 if largest is None else sizes[largest.case].peak
    free = free_memory()
    if sum(held) + peak <= free:
        return None
    parts = [f"{in_gib(sum(held))} to hold {len(held):,} cases that are smaller than a training crop"] if held else []
    if largest is not None:
        size = sizes[largest.case]
        parts.append(f"{in_gib(peak)} while {largest.case} of {by(size.shape)} voxels is prepared")
    return fault(
        f"needs {in_gib(sum(held) + peak)} of memory, and {in_gib(free)} are free",
        file="this machine",
        expected=" and ".join(parts),
        advice="stop other work, use a machine with more memory"
        + (", or take that case out" if largest is not None and not held else ", or a study with smaller crops"),
    )


def _prepared_shape(place: Place, contract: ImageContract) -> Triple:
    turned = oriented_place(place, contract.orientation)
    return resampled_shape(turned.shape, turned.affine, contract.spacing_mm)


def _largest_box(cases: Sequence[CaseFiles]) -> float:
    """The largest share of its image that a brain's box takes, in cases at even steps; 1 where none can be read."""
    shares = []
    for files in cases[:: max(1, -(-len(cases) // _SAMPLE))]:
        volume = next(iter(files.volumes.values()))
        try:
            data = read_volume(volume.file, volume.channel, volume.channels).data
        except WardroundError:  # told when it is its turn
            continue
        shares.append(prod(part.stop - part.start for part in occupied_box(data != 0)) / data.size)
    return max(shares, default=1.0) or 1.0
