from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from wardround.workloads.clinical_risk.settings import ColumnMapping


def _mapping(text: str) -> ColumnMapping:
    settings: dict[str, Any] = yaml.safe_load(text)
    return ColumnMapping.model_validate(settings)


def test_codes_that_are_numbers_need_no_quotes() -> None:
    mapping = _mapping("{column: sex, codes: {1: male, 0: female, 2.5: '3'}, missing: [-9, '?']}")
    assert mapping.codes == {"1": "male", "0": "female", "2.5": "3"}
    assert mapping.missing == ("-9", "?")


@pytest.mark.parametrize("codes", ["{yes: smoker}", "{J: yes}"])
def test_a_word_that_yaml_takes_for_a_truth_value_must_be_quoted(codes: str) -> None:
    with pytest.raises(ValidationError, match="put the code in quotes"):
        _mapping(f"{{column: smokes, codes: {codes}}}")
