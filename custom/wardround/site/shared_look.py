"""The look at a released model that the admin has decided to share: a file in the state folder, until it is deleted."""

import logging
from pathlib import Path

from pydantic import ValidationError

from wardround.records.files import private_folder, write_whole
from wardround.records.shared_monitoring import SharedMonitoring

_log = logging.getLogger(__name__)
_FOLDER = "shared_monitoring"


def look_file(state_folder: Path, study: str) -> Path:
    """Where a study's is; what is deleted here leaves with no job any more."""
    return state_folder / _FOLDER / f"{study}.json"


def keep_look(state_folder: Path, look: SharedMonitoring) -> Path:
    """Puts it in the place of the study's earlier one.

    Raises:
        OSError: the state folder cannot be written.
    """
    file = look_file(state_folder, look.study)
    private_folder(file.parent)
    write_whole(file, (look.model_dump_json(indent=2) + "\n").encode(), private=True)
    return file


def shared_look(state_folder: Path, study: str) -> SharedMonitoring | None:
    """The study's, or None: the admin shared none, or it cannot be read, which the site's log tells."""
    file = look_file(state_folder, study)
    try:
        look = SharedMonitoring.model_validate_json(file.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValidationError) as error:
        _log.warning("%s: cannot be read, so it is not sent: delete it, or share the look again: %s", file, error)
        return None
    if look.study != study:
        _log.warning("%s: is a look at a release of %s, so it is not sent: delete it", file, look.study)
        return None
    return look


def shared_looks(state_folder: Path) -> list[SharedMonitoring]:
    """Of every study, for the admin's view."""
    studies = sorted(file.stem for file in (state_folder / _FOLDER).glob("*.json"))
    return [look for study in studies if (look := shared_look(state_folder, study))]
