"""What a site may tell of how much data it has: exact where it is much, a range where it is little."""

from collections.abc import Mapping

from wardround.records.changed import changed
from wardround.records.codes import Band
from wardround.records.disclosure import Disclosure
from wardround.records.reasons import Reason
from wardround.records.update import SiteManifest
from wardround.records.versions import PACKAGES
from wardround.site.guarded import Guarded
from wardround.site.guarded_monitoring import guard_monitoring
from wardround.site.guarded_sums import guard_sums
from wardround.workloads.split import SPLITS
from wardround.workloads.words import Words

_TOTAL = "left_out"  # of all problems
_CODES = frozenset(str(reason) for reason in Reason if reason is not Reason.OPTED_OUT)  # their number stays


def guard_manifest(manifest: SiteManifest, rules: Disclosure, words: Words) -> Guarded[SiteManifest]:
    """Bands counts, and holds back sums.

    Of a split with fewer patients than `minimum_patients`, patients are told as a range and cases and outcomes not at
    all but for being there. What was left out, and whatever else is counted, is a range below `minimum_cell`; where a
    part of `left_out` is a range, so is `left_out`, or the difference would tell the part. A look at a released model
    that rests on too few patients is not sent at all.
    """
    problems = {code: count for code, count in manifest.problems.items() if code in _CODES}
    doubts = {code: count for code, count in manifest.doubts.items() if code in _CODES}
    counts = {name: count for name, count in manifest.counts.items() if words.knows_count(name)}
    figures = tuple(name for name in manifest.metric_names if name in words.figures)
    look = guard_monitoring(manifest.monitoring, rules, words) if manifest.monitoring else None
    sums, inputs = (guard_sums(part, rules, words) for part in (manifest.statistics, manifest.inputs))
    suppressed = [name for name in manifest.suppressed if words.knows_sum(name) or words.knows_count(name)]
    unlisted = [
        *(code for code in manifest.problems if code not in problems),
        *(code for code in manifest.doubts if code not in doubts),
        *(name for name in manifest.counts if name not in counts),
        *(name for name in manifest.metric_names if name not in figures),
        *(name for name in manifest.suppressed if name not in suppressed),
        *(package for package in manifest.versions if package not in PACKAGES),
        *sums.unlisted,
        *inputs.unlisted,
        *(look.unlisted if look else ()),
    ]
    banded_problems, banded_doubts = (_few(part, rules) for part in (problems, doubts))
    banded = _banded(counts, rules)
    if banded_problems and _TOTAL in counts:
        banded[_TOTAL] = _total(problems, banded_problems)
    told = changed(
        manifest,
        counts={name: rules.stepped(count) for name, count in counts.items() if name not in banded},
        banded=banded,
        problems={code: rules.stepped(n) for code, n in problems.items() if code not in banded_problems},
        banded_problems=banded_problems,
        doubts={code: rules.stepped(n) for code, n in doubts.items() if code not in banded_doubts},
        banded_doubts=banded_doubts,
        metric_names=figures,
        versions={package: one for package, one in manifest.versions.items() if package in PACKAGES},
        statistics=sums.passed,
        inputs=inputs.passed,
        suppressed=sorted({*suppressed, *sums.suppressed, *inputs.suppressed}),
        monitoring=look.passed if look else None,
    )
    return Guarded(told, suppressed=look.suppressed if look else [], unlisted=unlisted)


def _banded(counts: Mapping[str, int], rules: Disclosure) -> dict[str, Band]:
    banded: dict[str, Band] = {}
    of_splits: set[str] = set()
    for split in SPLITS:
        own = {name: count for name, count in counts.items() if name.startswith(f"{split}_")}
        of_splits |= set(own)
        patients = own.get(f"{split}_patients", own.get(f"{split}_cases", 0))
        if 0 < patients < rules.minimum_patients:
            banded |= {name: (0 if name.endswith("_positive") else 1, None) for name in own}
            banded |= {name: (1, rules.minimum_patients - 1) for name in own if name.endswith("_patients")}
    rest = {name: count for name, count in counts.items() if name not in of_splits}
    return banded | _few(rest, rules)


def _few(counts: Mapping[str, int], rules: Disclosure) -> dict[str, Band]:
    return {name: _small(rules) for name, count in counts.items() if 0 < count < rules.minimum_cell}


def _small(rules: Disclosure) -> Band:
    return 1, rules.minimum_cell - 1


def _total(problems: Mapping[str, int], banded: Mapping[str, Band]) -> Band:
    """Least and most of a sum of which some parts are told and the others are ranges."""
    told = sum(count for code, count in problems.items() if code not in banded)
    return told + sum(low for low, _ in banded.values()), told + sum(high or 0 for _, high in banded.values())
