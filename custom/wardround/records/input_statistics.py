"""statistics.json of a release: how its training inputs were distributed, in shares over all sites."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from wardround.records.reasons import Reason, WardroundError

FILE_NAME = "statistics.json"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class InputCell(_Part):
    """A part of an input's values.

    Args:
        first, last: of the positions that `InputColumn` counts, the last included.
        label: what they are, for people.
        share: of the rows or cases.
    """

    first: int = Field(ge=0)
    last: int = Field(ge=0)
    label: str
    share: float = Field(gt=0, le=1)


class InputShares(_Part):
    """One column, or one image sequence.

    Args:
        rows: rows or cases that the shares are of; `sites` how many told them.
    """

    name: str
    rows: int = Field(gt=0)
    sites: int = Field(gt=0)
    cells: list[InputCell] = Field(min_length=1)


class InputStatistics(_Part):
    """A whole statistics.json; no cell rests on fewer patients of any site than its minimum."""

    format: Literal["wardround-statistics-1"] = "wardround-statistics-1"
    study: str
    contract_sha256: str | None
    inputs: list[InputShares]


def read_input_statistics(file: Path) -> InputStatistics | None:
    """Reads it; None where there is none, as in a release of sites that tell no shares.

    Raises:
        WardroundError: it is something else.
    """
    try:
        return InputStatistics.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        return None
    except ValidationError as error:
        raise WardroundError(
            Reason.DATA_UNREADABLE, f"{file}: no statistics of inputs: {error.errors()[0]['msg']}; copy it again"
        ) from error
