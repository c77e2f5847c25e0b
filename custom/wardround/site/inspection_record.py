"""When a site's data was last inspected: a small file in the site's state folder, read without torch."""

import json
from dataclasses import asdict
from pathlib import Path

from pydantic import TypeAdapter

from wardround.records.files import locked, write_whole
from wardround.records.json_text import plain
from wardround.records.site_status import LastInspection

_FILE, _LOCK = "inspection.json", ".inspection.lock"
_RECORD = TypeAdapter(dict[str, LastInspection])


def last_inspections(state_folder: Path) -> list[LastInspection]:
    """The last look at each study's data, by study; empty where there was none."""
    try:
        record = plain((state_folder / _FILE).read_bytes(), _RECORD) or {}
    except OSError:
        return []
    return [record[study] for study in sorted(record)]


def note_inspection(state_folder: Path, inspection: LastInspection) -> None:
    """Puts one in the place of the study's earlier one.

    Raises:
        OSError: the state folder cannot be written.
    """
    with locked(state_folder / _LOCK):  # of two studies that are inspected at once, neither is lost
        record = {one.study: asdict(one) for one in [*last_inspections(state_folder), inspection]}
        write_whole(state_folder / _FILE, json.dumps(record, indent=2).encode(), private=True)
