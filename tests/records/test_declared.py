"""What a hospital declares of its data: short codes, taken as they were written."""

import pytest
import yaml
from pydantic import ValidationError

from wardround.records.declared import NOTHING_DECLARED, declared_in


def test_a_section_that_declares_nothing_says_nothing() -> None:
    assert declared_in({"folder": "data"}) == NOTHING_DECLARED
    assert NOTHING_DECLARED.data_version is None


def test_both_are_read_beside_the_sections_own_keys() -> None:
    declared = declared_in({"folder": "data", "data_version": "2026-03", "label_definition": "two_readers"})
    assert (declared.data_version, declared.label_definition) == ("2026-03", "two_readers")


@pytest.mark.parametrize("text", ["2024.10", "2024-03-01", "202403", "true"])
def test_what_yaml_takes_for_something_else_is_to_be_quoted(text: str) -> None:
    with pytest.raises(ValidationError, match="put it in quotes"):
        declared_in(yaml.safe_load(f"data_version: {text}"))


@pytest.mark.parametrize(
    ("key", "text"),
    [("data_version", "/data/export of March"), ("label_definition", "read by Dr. A"), ("label_definition", "ICD 10")],
)
def test_no_sentence_or_path_can_be_declared(key: str, text: str) -> None:
    with pytest.raises(ValidationError, match="pattern"):
        declared_in({key: text})
