"""JSON files that other programs or people write, read with one line for whatever is wrong with them."""

import json
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from wardround.records.reasons import Reason, WardroundError
from wardround.records.schema_faults import validated

Model = TypeVar("Model", bound=BaseModel)
Plain = TypeVar("Plain")


def read_json(file: Path, model: type[Model], *, advice: str) -> Model:
    """Reads a file as `model`.

    Args:
        file: a whole JSON value.
        model: what it has to be.
        advice: what to do where the file cannot be read as JSON.

    Raises:
        WardroundError: it cannot be read, is no JSON, or is not as the model says, by its key.
    """
    return validated(model, _object(file, advice), str(file))


def checked_json(file: Path, model: type[BaseModel], *, advice: str) -> dict[str, Any]:
    """What a file holds, in its own order and with all its keys, once `model` has found nothing wrong with it.

    Raises:
        WardroundError: see `read_json`.
    """
    value = _object(file, advice)
    validated(model, value, str(file))
    return value


def plain(text: str | bytes, kind: TypeAdapter[Plain]) -> Plain | None:
    """A value of that kind from a piece of JSON, or None where it is anything else, such as cut short by a kill."""
    try:
        return kind.validate_json(text)
    except ValidationError:
        return None


def _object(file: Path, advice: str) -> dict[str, Any]:
    try:
        value = json.loads(file.read_bytes())
    except OSError as error:
        raise WardroundError(
            Reason.CONFIGURATION_INVALID, f"{file}: {error.strerror or type(error).__name__}; {advice}"
        ) from error
    except (ValueError, RecursionError) as error:  # UnicodeDecodeError is a ValueError
        raise WardroundError(
            Reason.CONFIGURATION_INVALID, f"{file}: not readable as JSON: {str(error).splitlines()[0]}; {advice}"
        ) from error
    if not isinstance(value, dict):
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            f"{file}: expected an object of settings, found {type(value).__name__}; {advice}",
        )
    return value
