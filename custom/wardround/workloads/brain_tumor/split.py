"""Which patients train, validate and test."""

from collections.abc import Collection

from wardround.records.faults import fault
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.brain_tumor.settings import Split
from wardround.workloads.split import SPLITS, split_by_fractions


def split_patients(patients: Collection[str], split: Split) -> dict[str, str]:
    """Maps each patient to a split; all timepoints of a patient go together.

    Explicit lists win; a patient in none of them is left out. Otherwise fractions decide, see `split_by_fractions`.

    Raises:
        WardroundError: lists are incomplete, overlap or name unknown patients, or fractions leave nothing to train on.
    """
    lists = {name: getattr(split, name) for name in SPLITS}
    if any(chosen is not None for chosen in lists.values()):
        return _from_lists(patients, lists)
    return split_by_fractions(patients, validation=split.validation_fraction, test=split.test_fraction, seed=split.seed)


def _from_lists(patients: Collection[str], lists: dict[str, tuple[str, ...] | None]) -> dict[str, str]:
    absent = [name for name, chosen in lists.items() if chosen is None]
    if absent:
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            f"split: give all three lists or none; {' and '.join(absent)} is missing (an empty list is allowed)",
        )
    assigned: dict[str, str] = {}
    repeated = []
    for name, chosen in lists.items():
        for patient in chosen or ():
            if patient in assigned:
                other = assigned[patient]
                where = f"twice in {name}" if other == name else f"in {other} and in {name}"
                advice = "take the id out of all lists but one"
                repeated.append(
                    fault(f"patient {patient} is {where}", key="split", expected="once only", advice=advice)
                )
            assigned[patient] = name
    if repeated:
        raise WardroundError(Reason.SPLIT_INVALID, *repeated)
    unknown = sorted(set(assigned) - set(patients))
    if unknown:
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            f"split: no such patient in the data folder: {', '.join(unknown[:5])}{', ...' if len(unknown) > 5 else ''} "
            f"({len(unknown)} of {len(assigned)}); lists name patients, without the timepoint",
        )
    return assigned
