"""When a site's data was last inspected: a small file in the site's state folder, read without torch."""

import json
from dataclasses import asdict
from pathlib import Path

from wardround.records.files import private_folder, write_whole
from wardround.records.site_status import LastInspection

_FILE = "inspection.json"


def last_inspections(state_folder: Path) -> list[LastInspection]:
    """The last look at each study's data, by study; empty where there was none."""
    try:
        record = json.loads((state_folder / _FILE).read_text(encoding="utf-8"))
        return [LastInspection(**record[study]) for study in sorted(record)]
    except (OSError, ValueError, TypeError):
        return []


def note_inspection(state_folder: Path, inspection: LastInspection) -> None:
    """Puts one in the place of the study's earlier one.

    Raises:
        OSError: the state folder cannot be written.
    """
    record = {one.study: asdict(one) for one in [*last_inspections(state_folder), inspection]}
    private_folder(state_folder)
    write_whole(state_folder / _FILE, json.dumps(record, indent=2).encode())
