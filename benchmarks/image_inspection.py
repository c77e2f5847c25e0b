"""How long an inspection of images takes beside plain nibabel, in one run.

    python benchmarks/image_inspection.py [--cases 1000] [--whole 4] [--side 240 240 155]

1. The headers of 1,000 cases, four sequences and a label each, with every check (under 30 s).
2. `nibabel.load` of the same files: it opens headers too, and checks nothing of where the voxels lie.
3. Whole cases decompressed, checked and prepared, in as many threads as cores, and one after the other in one.
4. The same cases by nibabel's `get_fdata` alone, one after the other.

The 1,000 cases are links to the files of one, so what is measured is opening and reading, from the page cache. Voxels
are noise in an ellipsoid, which packs worse than a brain. Times are of the clock, beside them the CPU's.
"""

import argparse
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import nibabel as nib
import numpy as np
from rich.console import Console
from rich.table import Table

from wardround.site.processes import available_cores
from wardround.workloads.brain_tumor import ahead
from wardround.workloads.brain_tumor.case_cache import CaseCache
from wardround.workloads.brain_tumor.header_pass import look_at_headers
from wardround.workloads.brain_tumor.layouts import CaseFiles, find_cases
from wardround.workloads.brain_tumor.prepare_cases import prepare_cases
from wardround.workloads.brain_tumor.room import size_of
from wardround.workloads.brain_tumor.settings import SEQUENCES, BrainTumorSettings, BrainTumorSiteSettings


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=1000, help="cases whose headers are read")
    parser.add_argument("--whole", type=int, default=4, help="cases that are decompressed")
    parser.add_argument("--side", type=int, nargs=3, default=(240, 240, 155), help="voxels of a volume")
    options = parser.parse_args()
    title = "inspection of images of {} x {} x {} voxels".format(*options.side)
    table = Table("measured", "seconds", "CPU seconds", "asked", title=title)
    with tempfile.TemporaryDirectory() as folder:
        for row in [
            *_headers(Path(folder) / "linked", options.cases, options.side),
            *_whole(Path(folder), options.whole, options.side),
        ]:
            table.add_row(*row)
    Console().print(table)


def _headers(folder: Path, count: int, shape: tuple[int, int, int]) -> list[tuple[str, ...]]:
    first = _write_case(folder, 0, shape)
    for number in range(1, count):
        case = folder / f"P-{number}-000"
        case.mkdir()
        for file in first.iterdir():
            os.link(file, case / file.name.replace(first.name, case.name))
    cases = _found(folder)
    ours = _seconds(lambda: look_at_headers(_found(folder), "RAS"))
    plain = _seconds(lambda: [nib.load(file).affine for files in cases for file in files.all])
    shutil.rmtree(folder)
    return [
        (f"headers of {count:,} cases, found and checked", *ours, "under 30 s"),
        ("the same files by nibabel.load, unchecked", *plain, ""),
    ]


def _whole(folder: Path, count: int, shape: tuple[int, int, int]) -> list[tuple[str, ...]]:
    data = folder / "whole"
    for number in range(count):
        _write_case(data, number, shape)
    settings, site, cases = BrainTumorSettings(), _site(data), _found(data)
    many, one = CaseCache(folder / "many"), CaseCache(folder / "one")
    places = look_at_headers(cases, "RAS").places
    sizes = [size_of(files, places[files.case], settings) for files in cases]
    threads = ahead.threads_for(sizes, available_cores())
    side_by_side = _seconds(lambda: ahead.prepare_ahead(cases, settings, site, many, threads=threads))
    alone = _seconds(lambda: prepare_cases(cases, settings, site, one, {}))
    plain = _seconds(lambda: [nib.load(file).get_fdata() for files in cases for file in files.all])
    return [
        (f"{count} cases decompressed, checked and prepared, {threads} threads", *side_by_side, ""),
        ("the same in one thread", *alone, ""),
        ("the same files by nibabel's get_fdata", *plain, ""),
    ]


def _seconds(work: Callable[[], object]) -> tuple[str, str]:
    start, cpu = time.perf_counter(), time.process_time()
    work()
    return f"{time.perf_counter() - start:.1f}", f"{time.process_time() - cpu:.1f}"


def _site(folder: Path) -> BrainTumorSiteSettings:
    return BrainTumorSiteSettings.model_validate({"folder": folder, "layout": "brats2023", "labels": "brats2023"})


def _found(folder: Path) -> tuple[CaseFiles, ...]:
    return find_cases(_site(folder), SEQUENCES).cases


def _write_case(folder: Path, number: int, shape: tuple[int, int, int]) -> Path:
    generator = np.random.default_rng(number)
    axes = np.meshgrid(*(np.linspace(-1, 1, side) for side in shape), indexing="ij", sparse=True)
    radius = sum((axis / half) ** 2 for axis, half in zip(axes, (0.65, 0.8, 0.75), strict=True))
    case = folder / f"P-{number}-000"
    case.mkdir(parents=True)
    affine = np.diag([-1, -1, 1, 1.0])
    for name in SEQUENCES:
        voxels = (radius < 1) * generator.integers(100, 900, shape, dtype=np.int16)
        nib.save(nib.Nifti1Image(voxels, affine), case / f"{case.name}-{name}.nii.gz")
    label = (radius < 0.1).astype(np.uint8) + (radius < 0.05) + (radius < 0.02)
    nib.save(nib.Nifti1Image(label.astype(np.uint8), affine), case / f"{case.name}-seg.nii.gz")
    return case


if __name__ == "__main__":
    main()
