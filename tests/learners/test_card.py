"""A checkpoint's card: says what can be used, and any change of it changes its hash."""

from typing import Any

import pytest
from pydantic import ValidationError

from wardround.learners.card import CheckpointCard

CARD: dict[str, Any] = {
    "study": "s",
    "study_seed": 0,
    "study_digest": "d",
    "workload": {"kind": "brain_tumor"},
    "algorithm": {"kind": "fedbn"},
    "batch_size": 2,
    "model_round": 3,
    "entries": {"w": ["float32", 2]},
    "complete": True,
    "key_metric": ("dice_mean", "max"),
    "weights_sha256": "w",
}


def test_the_hash_follows_every_value_and_not_the_order_of_keys() -> None:
    card = CheckpointCard.model_validate(CARD)
    assert card.sha256() == CheckpointCard.model_validate(dict(reversed(CARD.items()))).sha256()
    assert card.sha256() != card.model_copy(update={"model_round": 4}).sha256()
    assert card.sha256() != card.model_copy(update={"workload": {"kind": "clinical_risk"}}).sha256()


@pytest.mark.parametrize("wrong", [{"workload": {}}, {"complete": False}, {"format": "2"}, {"more": 1}])
def test_a_card_that_nothing_can_be_made_of_is_refused(wrong: dict[str, Any]) -> None:
    CheckpointCard.model_validate(CARD)
    CheckpointCard.model_validate({**CARD, "complete": False, "kept_local": ["norm.weight"]})
    with pytest.raises(ValidationError):
        CheckpointCard.model_validate({**CARD, **wrong})
