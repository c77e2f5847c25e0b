"""The public data sets that some tests read, in the folder that `WARDROUND_TEST_DATA` names."""

import os
from pathlib import Path

import pytest

VARIABLE = "WARDROUND_TEST_DATA"


def data_folder(name: str) -> Path | None:
    """One data set's folder, such as `heart_disease`; None where the variable is not set or has no such folder."""
    given = os.environ.get(VARIABLE)
    folder = Path(given).absolute() / name if given else None
    return folder if folder is not None and folder.is_dir() else None


def needs_data(name: str) -> pytest.MarkDecorator:
    """Skips a test where the data set is absent, and says what to set."""
    told = (
        f"{VARIABLE} is {os.environ.get(VARIABLE) or 'not set'}: it names the folder with {name}/, see CONTRIBUTING.md"
    )
    return pytest.mark.skipif(data_folder(name) is None, reason=told)


def with_data(**variables: str) -> dict[str, str]:
    """The environment of a command that reads the data sets as a hospital's own, where they are there."""
    given = os.environ.get(VARIABLE)
    own = {"WARDROUND_DATA": str(Path(given).absolute())} if given else {}
    return {**os.environ, **own, **variables}
