"""A settings file as a model of it; what pydantic says against it, in the words of the one who wrote the file."""

import difflib
from collections.abc import Iterator, Sequence
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from wardround.records.faults import Fault, fault
from wardround.records.reasons import Reason, WardroundError

Model = TypeVar("Model", bound=BaseModel)
_EXPECTED = "Input should be "


def validated(model: type[Model], settings: Any, where: str) -> Model:
    """Builds `model` from parsed YAML, with pydantic's faults told one a line under the file's name."""
    try:
        return model.model_validate(settings)
    except ValidationError as error:
        faults = [schema_fault(model, one, where) for one in error.errors()]
        raise WardroundError(Reason.CONFIGURATION_INVALID, *faults) from error


def schema_fault(model: type[BaseModel], told: ErrorDetails, file: str) -> Fault:
    """One fault under the file's name and the key, with the key that was probably meant where one is unknown."""
    loc, found = told["loc"], told["input"]
    if told["type"] == "truth_value":  # a section's own check, which pydantic places at the section
        loc, found = (*loc, told["ctx"]["key"]), told["ctx"]["found"]
    parents, last = [str(part) for part in loc[:-1]], str(loc[-1]) if loc else ""
    parents, known = _section(model, parents)
    key = ".".join([*parents, last]) if last else "settings"
    if told["type"] == "missing":
        return fault("missing, and there is no default", file=file, key=key, advice="add it")
    if told["type"] != "extra_forbidden":
        if found is None and last and told["msg"].startswith(_EXPECTED):
            expected = told["msg"].removeprefix(_EXPECTED)
            return fault("empty", file=file, key=key, expected=expected, advice="fill it in")
        text = told["msg"].removeprefix("Value error, ").removeprefix(f"{key}: ")
        if told["type"] == "nothing_given":  # a section's own words, which say so
            return fault(text, file=file, key=key)
        return fault(f"{text} (found {found!r:.80})", file=file, key=key)
    similar = difflib.get_close_matches(last, known, n=1)
    advice = f"did you mean {'.'.join([*parents, *similar])}?" if similar else ""
    return fault("unknown key", file=file, key=key, advice=advice)


def _section(model: type[BaseModel], parts: Sequence[str]) -> tuple[list[str], list[str]]:
    """The path as it stands in the file, and the keys of the section at its end; none where that is no section.

    Pydantic's path names the chosen member of a union by its tag, which the file has at another place.
    """
    path: list[str] = []
    at: list[Any] = [model]
    for part in parts:
        tagged = [one for one in at if _has_tag(one, part)]
        if len(at) > 1 and tagged:
            at = tagged
            continue
        path.append(part)
        at = [member for one in at for member in _members(_value_type(one, part))]
    models = [one for one in at if isinstance(one, type) and issubclass(one, BaseModel)]
    return path, [name for one in models for name in one.model_fields]


def _value_type(section: Any, key: str) -> Any:
    """The type of what stands under a key of a section, or among the values of a mapping or list."""
    if isinstance(section, type) and issubclass(section, BaseModel):
        found = section.model_fields.get(key)
        return found.annotation if found else None
    arguments = get_args(section)
    return arguments[-1] if get_origin(section) is dict else arguments[0] if arguments else None


def _members(annotation: Any) -> Iterator[Any]:
    """Members of a union, or the type itself, without what is annotated to it."""
    if get_origin(annotation) is Annotated:
        yield from _members(get_args(annotation)[0])
    elif get_origin(annotation) in (Union, UnionType):
        for member in get_args(annotation):
            yield from _members(member)
    else:
        yield annotation


def _has_tag(model: Any, tag: str) -> bool:
    """Whether a model is the member of a union that this word chooses, by a field that can be nothing else."""
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        return False
    kinds = (one.annotation for one in model.model_fields.values() if get_origin(one.annotation) is Literal)
    return any(get_args(kind) == (tag,) for kind in kinds)
