"""What no file tells must be declared, and must be what the study asks for."""

from pathlib import Path

import pytest

from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.brain_tumor.declaration import refuse_other_images
from wardround.workloads.brain_tumor.settings import BrainTumorSiteSettings, ImageContract

AGREED = {"registration_space": "SRI24", "annotation_protocol": "BraTS 2023", "surgical_status": "pre-operative"}


def _site(declares: dict[str, str] | None) -> BrainTumorSiteSettings:
    return BrainTumorSiteSettings.model_validate(
        {"folder": Path("data"), "layout": "brats2023", "labels": "brats2023", "declares": declares}
    )


def test_equal_declarations_pass() -> None:
    refuse_other_images(ImageContract(), _site(AGREED))


@pytest.mark.parametrize(
    ("declares", "told"),
    [
        (None, "declares is missing"),
        (AGREED | {"registration_space": "native"}, "registration_space is 'native', the study asks for 'SRI24'"),
        (AGREED | {"surgical_status": "mixed"}, "surgical_status is 'mixed'"),
        (AGREED | {"annotation_protocol": "our own"}, "annotation_protocol is 'our own'"),
    ],
)
def test_a_missing_or_other_declaration_is_refused(declares: dict[str, str] | None, told: str) -> None:
    with pytest.raises(WardroundError, match=told) as caught:
        refuse_other_images(ImageContract(), _site(declares))
    assert caught.value.code is Reason.CONTRACT_MISMATCH
