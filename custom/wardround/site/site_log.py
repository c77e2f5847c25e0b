"""A site's own log: the only place where the words of a failure go."""

import logging
from collections.abc import Sequence
from pathlib import Path

from wardround.records.files import private_file, private_folder
from wardround.records.reasons import Reason, WardroundError

FILE_NAME = "site.log"
_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def open_site_log(folder: Path) -> None:
    """Sends everything that this package logs in this process to `folder/site.log` and nowhere else.

    FLARE attaches its handlers to the root logger and can stream what they write to the server, so nothing of ours
    may propagate there, not even where the file cannot be opened.

    Raises:
        OSError: the file cannot be opened; what is logged is then lost.
    """
    logger = logging.getLogger("wardround")
    logger.propagate = False
    logger.setLevel(logging.INFO)
    file = (folder / FILE_NAME).resolve()
    if any(isinstance(handler, logging.FileHandler) and Path(handler.baseFilename) == file for handler in _own(logger)):
        return
    for handler in _own(logger):
        logger.removeHandler(handler)
        handler.close()
    logger.addHandler(logging.NullHandler())  # else Python prints errors to stderr, which FLARE may keep
    private_folder(folder)
    handler = logging.FileHandler(private_file(file), encoding="utf-8")
    handler.setFormatter(logging.Formatter(_FORMAT))
    logger.addHandler(handler)


def open_first_site_log(folders: Sequence[Path]) -> Path | None:
    """Opens the log in the first of the folders that can be used, and returns that one; None where none can."""
    for folder in folders:
        try:
            open_site_log(folder)
        except OSError:
            continue
        return folder
    return None


def code_of(error: BaseException) -> Reason:
    """The code that may travel for any failure at all."""
    if isinstance(error, WardroundError):
        return error.code
    if isinstance(error, ImportError):
        return Reason.MODULE_MISSING
    # torch raises its own class for a GPU; naming it here would load torch where only codes are needed
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return Reason.OUT_OF_MEMORY
    return Reason.SITE_FAILED


def _own(logger: logging.Logger) -> list[logging.Handler]:
    return list(logger.handlers)
