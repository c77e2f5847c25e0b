"""Finding runs of this machine: any folder below `results/` that holds a run's record or manifest."""

from collections.abc import Iterator
from pathlib import Path

from wardround.cli.write_report import RECORD
from wardround.records.manifest import FILE_NAME
from wardround.records.reasons import Reason, WardroundError

RESULTS = Path("results")
_EARLIER = "before-resume-"  # what a run had written before it was resumed: a part of it, and no run


def run_folders(results: Path) -> Iterator[Path]:
    """Every run's folder, in the order of paths."""
    found = {file.parent for name in (RECORD, FILE_NAME) for file in results.rglob(name)}
    yield from sorted(folder for folder in found if not folder.name.startswith(_EARLIER))


def run_folder(run: str, results: Path) -> Path:
    """A run's folder by its path, or by its path below `results`.

    Raises:
        WardroundError: there is none.
    """
    for folder in (Path(run), results / run):
        if any((folder / name).is_file() for name in (RECORD, FILE_NAME)):
            return folder
    near = [folder for folder in run_folders(results) if run in folder.parts[-2:] or folder.name.startswith(run)]
    hint = f"; did you mean {near[0]}?" if len(near) == 1 else "; `wardround runs list` names those that there are"
    raise WardroundError(Reason.DATA_MISSING, f"{run}: no run's folder, here or in {results}{hint}")
