"""Which cases somebody asked for by name."""

from collections.abc import Sequence

from wardround.records.reasons import Reason, WardroundError


def chosen_places(only: Sequence[str], cases: Sequence[str], patients: Sequence[str]) -> list[int]:
    """Places of the cases that are named, or whose patient is; all where nothing is named.

    Args:
        only: ids of cases or patients.
        cases, patients: by place.

    Raises:
        WardroundError: an id is neither a case's nor a patient's.
    """
    if not only:
        return list(range(len(cases)))
    wanted = set(only)
    unknown = sorted(wanted - set(cases) - set(patients))
    if unknown:
        raise WardroundError(
            Reason.DATA_MISSING,
            f"--cases: {len(unknown)} of {len(wanted)} are no usable case or patient here (such as {unknown[0]!r}); "
            "name a patient or a row as the data does, one a line; `wardround site inspect` tells what is left out",
        )
    return [n for n, (case, patient) in enumerate(zip(cases, patients, strict=True)) if {case, patient} & wanted]
