"""A copy of a record or a setting with other values, checked as if it had been read from a file."""

from typing import Any

from wardround.records.schema_faults import Model, validated


def changed(model: Model, where: str = "", /, **values: Any) -> Model:
    """The same model with these values; `model` stays as it is.

    Pydantic's own `model_copy(update=...)` takes any key and any value: a deadline before its grace period, say.

    Args:
        model: any of pydantic's.
        where: names the values in messages; by default the kind of model.
        values: by field.

    Raises:
        WardroundError: with one line a fault, as `validated`.
    """
    kept = {name: getattr(model, name) for name in model.model_fields_set}
    return validated(type(model), kept | values, where or type(model).__name__)
