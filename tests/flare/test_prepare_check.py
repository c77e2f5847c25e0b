"""Each fault before round 1 names the site and the difference in one line."""

from typing import Any

import pytest

from support.fake_workload import make_study
from wardround.flare.prepare_check import check_manifests, check_quorum
from wardround.records.reasons import Reason, WardroundError
from wardround.records.update import SiteManifest

STUDY = make_study()
SHARED = {"first.weight": ["float32", 4, 1, 3, 3], "last.bias": ["float32", 1]}


def _manifest(**changes: Any) -> SiteManifest:
    settings: dict[str, Any] = {
        "site": "hospital-b",
        "role": "train",
        "counts": {"train_patients": 6},
        "metric_names": ("accuracy",),
        "shared": SHARED,
        "kept_local": (),
        "contract_digest": "contract",
        "study_digest": STUDY.digest(),
    }
    return SiteManifest(**{**settings, **changes})


def _check(manifest: SiteManifest) -> None:
    manifests = {"hospital-a": _manifest(site="hospital-a"), "hospital-b": manifest}
    check_manifests(manifests, STUDY, contract_digest="contract", shared=SHARED)


@pytest.mark.parametrize(
    ("changes", "code", "words"),
    [
        ({"study_digest": "x" * 64}, Reason.CONTRACT_MISMATCH, "its study has the hash xxxxxxxxxxxx"),
        ({"contract_digest": "other"}, Reason.CONTRACT_MISMATCH, "its data contract has the hash other"),
        ({"metric_names": ("brier", "auroc")}, Reason.METRIC_UNKNOWN, "which reports: brier, auroc"),
        (
            {"shared": {"first.weight": SHARED["first.weight"]}},
            Reason.NAMES_MISMATCH,
            "lacks last.bias and has nothing",
        ),
        ({"shared": {**SHARED, "x": ["float32", 1]}}, Reason.NAMES_MISMATCH, "lacks nothing and has x beside"),
        ({"shared": {**SHARED, "last.bias": ["float32", 2]}}, Reason.SHAPE_MISMATCH, "last.bias is ['float32', 2]"),
    ],
)
def test_a_difference_is_named_with_its_site(changes: dict[str, Any], code: Reason, words: str) -> None:
    with pytest.raises(WardroundError) as caught:
        _check(_manifest(**changes))
    assert caught.value.code == code
    assert "hospital-b" in str(caught.value)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_equal_sites_pass_and_too_few_do_not() -> None:
    _check(_manifest())
    with pytest.raises(WardroundError, match=r"2 training sites, federation.quorum is 3 \(hospital-c: late\)"):
        check_quorum({"hospital-a": _manifest(), "hospital-b": _manifest()}, STUDY, {"hospital-c": "late"})
