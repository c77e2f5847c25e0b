import ast
from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict

import wardround
from wardround.records.changed import changed
from wardround.records.reasons import Reason, WardroundError
from wardround.records.study_sections import Federation

ROOT = Path(wardround.__file__).parent


class Plain(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    a: int = 1
    b: int = 2


def test_the_copy_has_the_new_value_and_what_was_set_before():
    first = Plain(a=5)
    second = changed(first, b=7)
    assert (first.a, first.b) == (5, 2)
    assert (second.a, second.b) == (5, 7)
    assert changed(first, a=6).model_dump(exclude_unset=True) == {"a": 6}


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (
            {"round_deadline_seconds": 30},
            "federation.grace_period_seconds 30 does nothing with round_deadline_seconds 30",
        ),
        ({"quorum": 0}, "federation: quorum: "),
        ({"quorom": 2}, "did you mean quorum?"),
    ],
)
def test_what_no_file_may_say_no_copy_says(values, told):
    with pytest.raises(WardroundError) as caught:
        changed(Federation(), "federation", **values)
    assert caught.value.code is Reason.CONFIGURATION_INVALID
    assert told in str(caught.value)


def test_without_a_name_the_kind_of_model_is_named():
    with pytest.raises(WardroundError, match="Plain: a"):
        changed(Plain(), a="x")


def test_no_copy_in_the_package_passes_a_check_by():
    unchecked = [
        f"{file.relative_to(ROOT)}:{node.lineno}"
        for file in ROOT.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in ("model_copy", "model_construct")
    ]
    assert unchecked == []
