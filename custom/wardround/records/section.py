"""What all models of settings that people write share: site.yaml, job.yaml and contract.yaml."""

from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator
from pydantic_core import PydanticCustomError


def _refuse_nothing(given: Any) -> Any:
    if given is None:
        raise PydanticCustomError("nothing_given", "empty, which would switch it off; fill it in, or leave the key out")
    return given


# Of a key that limits something where it is there: one whose value somebody forgot is not taken for one that is not
# there. A default is not checked.
SAID_OR_LEFT_OUT = BeforeValidator(_refuse_nothing)


class Section(BaseModel):
    """A part of such a file: a key that it does not know is refused, and so is a truth value for a number.

    YAML reads an unquoted yes, on or true as a truth value, which Python, and so pydantic, counts as the number 1: as
    the fewest patients behind a figure, say, it would switch the rule off without a word.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _no_truth_value_for_a_number(cls, given: Any) -> Any:
        for name, field in cls.model_fields.items():
            key = field.alias or name
            if not isinstance(given, dict) or key not in given:
                continue
            kinds = list(_kinds(field.annotation))
            if not {int, float} & set(kinds) or any(_holds_truth_values(kind) for kind in kinds):
                continue
            for where, found in _leaves(given[key], key):
                if isinstance(found, bool):
                    expected = "a number, or a text in quotes" if str in kinds else "a number"
                    raise PydanticCustomError(
                        "truth_value",
                        "expected {expected}; YAML reads yes, no, on, off, true and false as truth values",
                        {"expected": expected, "key": where, "found": found},
                    )
        return given


def _kinds(annotation: Any) -> Iterator[Any]:
    """The types that an annotation is made of, such as int and None of `int | None`; for Literal, those of its words.

    What is annotated to a type, such as limits, comes along and is no type.
    """
    if get_origin(annotation) is Literal:
        yield from (type(one) for one in get_args(annotation))
    elif arguments := get_args(annotation):
        for one in arguments:
            yield from _kinds(one)
    else:
        yield annotation


def _holds_truth_values(kind: Any) -> bool:
    """Whether one may stand there, or in a section there, which checks its own fields."""
    return kind in (bool, Any) or (isinstance(kind, type) and issubclass(kind, BaseModel))


def _leaves(value: Any, where: str) -> Iterator[tuple[str, Any]]:
    """Single values in lists and mappings, each with the key or the place that it is at."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from _leaves(one, f"{where}.{key}")
    elif isinstance(value, list | tuple):
        for place, one in enumerate(value):
            yield from _leaves(one, f"{where}.{place}")
    else:
        yield where, value
