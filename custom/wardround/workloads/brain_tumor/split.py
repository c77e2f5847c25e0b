"""Which patients train, validate and test."""

import hashlib
from collections.abc import Collection

from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.brain_tumor.settings import Split

SPLITS = ("train", "validation", "test")


def split_patients(patients: Collection[str], split: Split) -> dict[str, str]:
    """Maps each patient to a split; all timepoints of a patient go together.

    Explicit lists win; a patient in none of them is left out. Otherwise patients are ranked by
    SHA-256(seed, patient id) and cut by the fractions, so that the same patients and seed always give the same
    split, on every machine. A fraction above 0 gets at least one patient once there are three.

    Raises:
        WardroundError: lists are incomplete, overlap or name unknown patients, or fractions leave nothing to train on.
    """
    lists = {name: getattr(split, name) for name in SPLITS}
    if any(chosen is not None for chosen in lists.values()):
        return _from_lists(patients, lists)
    if split.validation_fraction + split.test_fraction >= 1:
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            f"split: validation_fraction {split.validation_fraction} and test_fraction {split.test_fraction} "
            "leave nothing to train on; their sum must be below 1",
        )
    ranked = sorted(set(patients), key=lambda patient: hashlib.sha256(f"{split.seed}:{patient}".encode()).digest())
    validation = min(_share(split.validation_fraction, len(ranked)), max(0, len(ranked) - 1))
    test = _share(split.test_fraction, len(ranked))
    test = min(test, max(0, len(ranked) - validation - 1))  # one at least trains
    names = ["validation"] * validation + ["test"] * test
    return dict(zip(ranked, names + ["train"] * (len(ranked) - len(names)), strict=True))


def _share(fraction: float, count: int) -> int:
    at_least = 1 if fraction > 0 and count >= len(SPLITS) else 0
    return max(at_least, int(fraction * count + 0.5))


def _from_lists(patients: Collection[str], lists: dict[str, tuple[str, ...] | None]) -> dict[str, str]:
    absent = [name for name, chosen in lists.items() if chosen is None]
    if absent:
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            f"split: give all three lists or none; {' and '.join(absent)} is missing (an empty list is allowed)",
        )
    assigned: dict[str, str] = {}
    for name, chosen in lists.items():
        for patient in chosen or ():
            if patient in assigned:
                other = assigned[patient]
                where = f"twice in {name}" if other == name else f"in {other} and in {name}"
                raise WardroundError(Reason.CONFIGURATION_INVALID, f"split: patient {patient} is {where}; once only")
            assigned[patient] = name
    unknown = sorted(set(assigned) - set(patients))
    if unknown:
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            f"split: no such patient in the data folder: {', '.join(unknown[:5])}{', ...' if len(unknown) > 5 else ''} "
            f"({len(unknown)} of {len(assigned)}); lists name patients, without the timepoint",
        )
    return assigned
