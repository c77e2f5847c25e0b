"""manifest.json beside a run's record."""

import json
import logging
from pathlib import Path

from wardround.cli.write_report import RECORD
from wardround.records.arms import BEST, LAST
from wardround.records.files import sha256_of
from wardround.records.manifest import ModelFile, RunManifest, write_manifest
from wardround.records.reasons import WardroundError
from wardround.records.run_lines import RunLine, StartLine, read_lines
from wardround.records.study import Study
from wardround.reporting.run_manifest import make_manifest, manifest_of_a_failure

_DOWNLOADED = "metrics"
_log = logging.getLogger(__name__)


def write_run_manifest(folder: Path) -> RunManifest:
    """Makes it from the record and the models in the run's folder.

    Raises:
        WardroundError: there is no record with a start.
    """
    record = folder / RECORD
    manifest = make_manifest(read_lines(record), model_files(folder), sha256_of(record))
    write_manifest(folder, manifest)
    return manifest


def write_manifest_anyhow(folder: Path, study: Study, environment: str, reason: str) -> None:
    """Makes it of whatever the run left, however it ended; what cannot be written is logged and hides no other error.

    Args:
        folder: the run's.
        study: what was to be run.
        environment: where.
        reason: why the run ended, where its record does not say.
    """
    try:
        lines: list[RunLine] = read_lines(folder / RECORD) if (folder / RECORD).is_file() else []
        started = any(isinstance(line, StartLine) for line in lines)
        models = model_files(folder)
        manifest = (
            make_manifest(lines, models, sha256_of(folder / RECORD))
            if started
            else manifest_of_a_failure(study, environment, lines, reason)
        )
        write_manifest(folder, manifest)
    except (WardroundError, OSError, ValueError) as error:
        _log.warning("%s: no manifest: %s", folder, error)


def model_files(folder: Path) -> dict[str, ModelFile]:
    """`best` and `last` of a run's folder, those that are there with their cards.

    In what FLARE's own tools download, the record is in `metrics/` and the models beside that folder.
    """
    beside = folder.resolve().name == _DOWNLOADED and not (folder / "models").is_dir()
    models = Path("..", "models") if beside else Path("models")
    found = {}
    for name in (BEST, LAST):
        file, card = (folder / models / f"{name}.{ending}" for ending in ("safetensors", "json"))
        if file.is_file() and card.is_file():
            about = json.loads(card.read_text(encoding="utf-8"))
            found[name] = ModelFile(
                file=(models / file.name).as_posix(),
                model_round=about["model_round"],
                sha256=sha256_of(file),
                card_sha256=sha256_of(card),
                weights_sha256=about["weights_sha256"],
            )
    return found
