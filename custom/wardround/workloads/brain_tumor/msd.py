"""`dataset.json` of the Medical Segmentation Decathlon: the cases, and the names of a 4D image's channels."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wardround.records.faults import fault
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.brain_tumor.labels import CONVENTIONS
from wardround.workloads.brain_tumor.settings import LabelConvention


@dataclass(frozen=True)
class MsdDataset:
    """Channel names in the order of the fourth axis, and (image, label) of each training case."""

    channels: tuple[str, ...]
    training: tuple[tuple[Path, Path | None], ...]


def read_dataset(folder: Path, convention: LabelConvention) -> MsdDataset:
    """Reads FOLDER/dataset.json. Its `test` list has no labels and is left alone.

    Raises:
        WardroundError: the file is missing, malformed, or its label names contradict the declared convention.
    """
    file = folder / "dataset.json"
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        names = content.get("modality") or content["channel_names"]
        channels = tuple(str(names[key]) for key in sorted(names, key=int))
        contiguous = sorted(int(key) for key in names) == list(range(len(names)))
        training = tuple(_pair(folder, entry) for entry in content["training"])
    except FileNotFoundError:
        raise WardroundError(
            Reason.DATA_MISSING,
            fault("no such file", file=file, advice="layout msd needs it, to name the channels of 4D images"),
        ) from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise WardroundError(
            Reason.DATA_UNREADABLE,
            fault(
                f"{type(error).__name__}: {error}",
                file=file,
                expected='"modality": {"0": name, ...} and "training": [{"image": ..., "label": ...}]',
            ),
        ) from error
    if not contiguous or len({name.lower() for name in channels}) != len(channels):
        raise WardroundError(
            Reason.SEQUENCE_AMBIGUOUS,
            fault(f"found {names}", file=file, key="modality", expected="distinct names numbered from 0"),
        )
    _refuse_contradiction(content.get("labels"), convention, file)
    return MsdDataset(channels, training)


def _pair(folder: Path, entry: Any) -> tuple[Path, Path | None]:
    if isinstance(entry, str):
        return folder / entry, None
    label = entry.get("label")
    return folder / entry["image"], folder / label if label else None


def _refuse_contradiction(labels: Any, convention: LabelConvention, file: Path) -> None:
    """The file's own label names, {"1": "edema", ...}, must not say otherwise than the site's declaration."""
    if not isinstance(labels, dict):
        return
    declared = CONVENTIONS[convention].edema
    edema = [int(value) for value, name in labels.items() if value.isdigit() and "edema" in str(name).lower()]
    if edema and edema != [declared]:
        raise WardroundError(
            Reason.LABEL_AMBIGUOUS,
            fault(
                f"edema is {edema[0]}, but convention {convention} has it as {declared}",
                file=file,
                key="labels",
                advice="declare in `labels` what the files use",
            ),
        )
