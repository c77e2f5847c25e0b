"""Disclosure rules of a site.yaml that do not do what was probably meant; told when the site is inspected."""

import difflib
import re
from collections.abc import Iterator, Mapping

from wardround.records.faults import fault
from wardround.records.inspection import Finding, Severity
from wardround.records.reasons import Reason
from wardround.records.study import Study
from wardround.site.config import SiteConfig
from wardround.workloads.words import Words, words_of

_SECTIONS = ("cohorts", "alerts")


def odd_rules(study: Study, config: SiteConfig, counts: Mapping[str, int]) -> list[Finding]:
    """Words of `allowed` that no figure or sum begins with, and counts that are rounded to twice as many and more.

    Args:
        study: whose figures they are.
        config: of the site.
        counts: of its patients by split, empty where the data could not be opened.

    Returns:
        A warning where nothing at all may leave or a count is far from what it was, or else a note, since another study
        of the site may have a figure of that name.
    """
    return [*_unknown_names(study, config), *_far_counts(config, counts)]


def _unknown_names(study: Study, config: SiteConfig) -> Iterator[Finding]:
    allowed = config.disclosure.allowed
    if not allowed:
        return
    names = sorted({*_SECTIONS, *_names(words_of(study.workload))})
    unknown = [one for one in allowed if not any(name == one or name.startswith(f"{one}_") for name in names)]
    for one in unknown:
        near = difflib.get_close_matches(one, names, n=1)
        told = fault(
            f"{one!r} is the beginning of no figure or sum of {study.name}"
            + (", so that all of them are held back" if len(unknown) == len(allowed) else ""),
            file=config.source.name,
            key="disclosure.allowed",
            advice=f"did you mean {near[0]}?" if near else "leave it out, unless another study has it",
            count=0,
        )
        severity = Severity.WARNING if len(unknown) == len(allowed) else Severity.NOTE
        yield Finding.of(severity, Reason.CONFIGURATION_INVALID, told)


def _far_counts(config: SiteConfig, counts: Mapping[str, int]) -> Iterator[Finding]:
    step, patients = config.disclosure.count_step, counts.get("train_patients", 0)
    if patients and config.disclosure.stepped(patients) >= 2 * patients:
        told = fault(
            f"{patients} training patients would be told, and weigh, as {config.disclosure.stepped(patients)}",
            file=config.source.name,
            key="disclosure.count_step",
            expected=f"a step that such counts are several times of, found {step}",
            advice="take a smaller one",
            count=0,
        )
        yield Finding.of(Severity.WARNING, Reason.CONFIGURATION_INVALID, told)


def _names(words: Words) -> Iterator[str]:
    """Of figures, and of the sums that a pattern such as `column_(age|sex)` or `voxels` stands for."""
    yield from words.figures
    for pattern in words.sums:
        first, *others = re.findall(r"[a-z0-9_]+", pattern) or [""]
        yield from (first, *others, *(f"{first}{one}" for one in others))
