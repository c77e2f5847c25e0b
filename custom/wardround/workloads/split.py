"""Which patients train, validate and test: the part that all workloads share."""

import hashlib
from collections.abc import Collection

from wardround.records.reasons import Reason, WardroundError

SPLITS = ("train", "validation", "test")


def split_by_fractions(
    patients: Collection[str], *, validation: float, test: float, seed: int, must_train: bool = True
) -> dict[str, str]:
    """Maps each patient to a split.

    Patients are ranked by SHA-256(seed, patient id) and cut by the fractions, so that the same patients and seed
    always give the same split, on every machine. A fraction above 0 gets at least one patient once there are three.

    Args:
        validation, test: fractions of the patients.
        must_train: one patient at least trains; False lets a hospital that is only scored hold all of them back.

    Raises:
        WardroundError: the fractions leave nothing to train on, or come to more than 1.
    """
    if validation + test > 1 or (must_train and validation + test == 1):
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            f"split: validation_fraction {validation} and test_fraction {test} "
            f"leave nothing to train on; their sum must be {'below 1' if must_train else 'at most 1'}",
        )
    ranked = sorted(set(patients), key=lambda patient: hashlib.sha256(f"{seed}:{patient}".encode()).digest())
    spare = len(ranked) - 1 if validation + test < 1 else len(ranked)
    validating = min(_share(validation, len(ranked)), max(0, spare))
    testing = min(_share(test, len(ranked)), max(0, spare - validating))
    if validation + test == 1:
        testing = len(ranked) - validating
    names = ["validation"] * validating + ["test"] * testing
    return dict(zip(ranked, names + ["train"] * (len(ranked) - len(names)), strict=True))


def _share(fraction: float, count: int) -> int:
    at_least = 1 if fraction > 0 and count >= len(SPLITS) else 0
    return max(at_least, int(fraction * count + 0.5))
