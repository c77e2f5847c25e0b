"""A hospital's look at a released model in words, as far as the hospital tells of it."""

from collections.abc import Callable

from wardround.records.shared_monitoring import SharedMonitoring, Shift

_SHIFTS: dict[Shift, str] = {
    "large": "moved much",
    "moderate": "moved moderately",
    "stable": "stable",
    "too_few": "moved over too few patients to tell",
    "not_comparable": "cannot be compared",
}
_MET = {False: "no longer met", None: "cannot be told", True: "met"}


def look_in_words(look: SharedMonitoring, title: Callable[[str], str] = str) -> str:
    """`v1 on 240 cases of 211 patients, 2030-01-31; no longer met: Brier score; inputs: 1 moved much, 11 stable`.

    Args:
        look: as it left, or as it would leave.
        title: a figure's name as it is to be read.
    """
    return (
        f"{look.version} on {look.cases:,} cases of {look.patients:,} patients, {look.date}; "
        f"{criteria_in_words(look, title)}; inputs: {inputs_in_words(look)}"
    )


def criteria_in_words(look: SharedMonitoring, title: Callable[[str], str] = str) -> str:
    """`no longer met: Brier score; met: AUROC`."""
    by_verdict = {
        words: [title(criterion.metric) for criterion in look.criteria if criterion.met is met]
        for met, words in _MET.items()
    }
    told = [f"{words}: {', '.join(titles)}" for words, titles in by_verdict.items() if titles]
    return "; ".join(told) or "no criterion that a site can check"


def inputs_in_words(look: SharedMonitoring) -> str:
    """`1 moved much, 2 moved moderately, 9 stable`."""
    told = [f"{look.inputs[kind]} {words}" for kind, words in _SHIFTS.items() if look.inputs.get(kind)]
    return ", ".join(told) or "none compared"
