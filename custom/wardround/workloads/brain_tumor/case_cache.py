"""Prepared cases on disk, each under a key of what its files contain and of the settings that shaped it.

An entry is a folder `<key>/` with `image.npy`, `label.npy`, `foreground.npy` and `entry.json`, which holds sizes and
checksums of the three. It is written beside its place and renamed, so that two processes may prepare the same case
at once and a killed one leaves nothing half written in place. Whatever does not match its checksum is made anew.
"""

import hashlib
import json
import logging
import shutil
import uuid
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from wardround.records.files import give_to_owner, writable_folder
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.brain_tumor.content_hash import ContentHashes
from wardround.workloads.brain_tumor.grid import CaseGrid
from wardround.workloads.brain_tumor.layouts import CaseFiles
from wardround.workloads.brain_tumor.preprocess import Preparation
from wardround.workloads.brain_tumor.remarks import Remark
from wardround.workloads.brain_tumor.settings import BrainTumorSiteSettings, ImageContract

PREPARATION_VERSION = 2  # raise it when preprocessing gives other values or remarks for the same files and settings

_log = logging.getLogger(__name__)
_ENTRY = "entry.json"
_ATTEMPTS = 3


def cache_folder(cache: Path) -> Path:
    """Where a site's cache has prepared images."""
    return cache / "brain_tumor"


class CaseCache:
    """Prepared cases under one folder.

    Args:
        folder: made if missing, readable by its owner alone, since prepared images are patients' images.

    Raises:
        WardroundError: the folder cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = writable_folder(folder, "cache_folder")
        self.hashes = ContentHashes(folder / "content_hashes.json")

    def key(self, files: CaseFiles, contract: ImageContract, site: BrainTumorSiteSettings) -> str:
        """SHA-256 of the files' content and of every setting that changes what preprocessing gives."""
        parts = {
            "version": PREPARATION_VERSION,
            "volumes": {
                name: [self.hashes.of(volume.file), volume.channel, volume.channels]
                for name, volume in files.volumes.items()
            },
            "label": [self.hashes.of(files.label), site.labels] if files.label else None,
            "sequences": contract.sequences,
            "spacing_mm": contract.spacing_mm,
            "orientation": contract.orientation,
            "normalisation": site.normalisation,
            "allow_missing": sorted(site.allow_missing),
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def holds(
        self, files: CaseFiles, contract: ImageContract, site: BrainTumorSiteSettings, *, read: bool = False
    ) -> bool:
        """Whether the case is there, as far as can be told without reading its files, unless these may be read."""
        if not read and not all(self.hashes.knows(file) for file in files.all):
            return False
        try:
            return (self.folder / self.key(files, contract, site)).exists()
        except OSError:  # told when the case is prepared
            return False

    def get(self, key: str, make: Callable[[], Preparation]) -> Preparation:
        """The entry under `key`, memory-mapped; made first where there is none or where it is broken.

        Raises:
            WardroundError: whatever `make` raises, or the entry cannot be kept on disk.
        """
        place = self.folder / key
        for _ in range(_ATTEMPTS):
            if place.exists():
                try:
                    return _read(place)
                except (OSError, ValueError, KeyError, TypeError) as error:
                    _log.warning("prepared case %s is broken (%s): preparing it again", key[:12], error)
                    self._discard(place)
            try:
                self._write(place, make())
            except OSError as error:
                raise WardroundError(
                    Reason.CONFIGURATION_INVALID, f"cache_folder {self.folder}: cannot keep a prepared case: {error}"
                ) from error
        return _read(place)

    def _write(self, place: Path, preparation: Preparation) -> None:
        unfinished = self.folder / f".unfinished-{uuid.uuid4().hex}"
        unfinished.mkdir(mode=0o700)
        try:
            arrays: dict[str, Any] = {"image": preparation.image, "foreground": preparation.foreground}
            if preparation.label is not None:
                arrays["label"] = preparation.label
            for name, array in arrays.items():
                np.save(unfinished / f"{name}.npy", array)
            entry = {
                "parts": {name: _checksum(unfinished / f"{name}.npy") for name in arrays},
                "missing": preparation.missing,
                "grid": preparation.grid.to_plain(),
                "contents": dict(preparation.contents),
                "remarks": [remark.to_plain() for remark in preparation.remarks],
            }
            (unfinished / _ENTRY).write_text(json.dumps(entry), encoding="utf-8")
            for made in (*unfinished.iterdir(), unfinished):
                give_to_owner(made)
            try:
                unfinished.rename(place)
            except OSError:
                if not place.exists():  # else another process was first, with the same content
                    raise
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)

    def _discard(self, place: Path) -> None:
        aside = self.folder / f".broken-{uuid.uuid4().hex}"
        try:
            place.rename(aside)
        except FileNotFoundError:  # another process found it broken too
            return
        shutil.rmtree(aside, ignore_errors=True)


def _read(place: Path) -> Preparation:
    entry = json.loads((place / _ENTRY).read_text(encoding="utf-8"))
    arrays: dict[str, Any] = {}
    for name, expected in entry["parts"].items():
        file = place / f"{name}.npy"
        found = _checksum(file)
        if found != expected:
            raise ValueError(f"{name}.npy: expected [bytes, CRC-32] {expected}, found {found}")
        arrays[name] = np.load(file) if name == "foreground" else _mapped(file)
    return Preparation(
        image=arrays["image"],
        label=arrays.get("label"),
        foreground=arrays["foreground"],
        missing=tuple(entry["missing"]),
        grid=CaseGrid.from_plain(entry["grid"]),
        contents=entry["contents"],
        remarks=tuple(Remark.from_plain(plain) for plain in entry["remarks"]),
    )


def _mapped(file: Path) -> NDArray[Any]:
    """A private memory map of an .npy file: off the heap, shared between processes, writes never reach the file.

    torch maps it because numpy's maps hold a file descriptor each, and a hospital has more cases than a process may
    open files.
    """
    with file.open("rb") as stream:
        version = np.lib.format.read_magic(stream)
        if version != (1, 0):
            raise ValueError(f"{file.name}: expected .npy version 1.0, found {version}")
        shape, fortran_order, dtype = np.lib.format.read_array_header_1_0(stream)
        offset = stream.tell()
    if fortran_order:
        raise ValueError(f"{file.name}: expected C order")
    raw = torch.from_file(str(file), shared=False, size=file.stat().st_size, dtype=torch.uint8).numpy()
    return raw[offset:].view(dtype).reshape(shape)


def _checksum(file: Path) -> list[int]:
    value = 0
    with file.open("rb") as stream:
        while chunk := stream.read(1 << 22):
            value = zlib.crc32(chunk, value)
    return [file.stat().st_size, value]
