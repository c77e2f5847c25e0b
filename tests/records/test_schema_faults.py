"""Faults of settings are told by file and key, an unknown key with the nearest that there is."""

import pytest
from pydantic import BaseModel, ConfigDict

from wardround.records.reasons import Reason, WardroundError
from wardround.records.schema_faults import validated


class _Room(BaseModel):
    model_config = ConfigDict(extra="forbid")

    beds: int


class _Ward(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    room: _Room


def test_what_is_right_becomes_the_model() -> None:
    assert validated(_Ward, {"name": "a", "room": {"beds": 2}}, "ward.yaml").room.beds == 2


def test_each_fault_has_its_line() -> None:
    with pytest.raises(WardroundError) as raised:
        validated(_Ward, {"room": {"bets": 2, "beds": "many"}, "colour": 1}, "ward.yaml")
    assert raised.value.code is Reason.CONFIGURATION_INVALID
    missing, wrong, near, unknown = str(raised.value).splitlines()
    assert missing == "ward.yaml: name: missing, and there is no default; add it"
    assert wrong.startswith("ward.yaml: room.beds: ")
    assert wrong.endswith("(found 'many')")
    assert near == "ward.yaml: room.bets: unknown key; did you mean room.beds?"
    assert unknown == "ward.yaml: colour: unknown key"
