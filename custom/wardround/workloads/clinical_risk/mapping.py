"""Whether a site's section of site.yaml fits the contract and the columns that are there, before any value."""

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence

from wardround.records.faults import Fault, fault
from wardround.records.inspection import Finding, Severity
from wardround.records.reasons import Reason
from wardround.workloads.clinical_risk.contract import OTHER, CategoryColumn, Contract, Exclusion, Name, NumberColumn
from wardround.workloads.clinical_risk.leakage import undeclared
from wardround.workloads.clinical_risk.settings import ClinicalRiskSiteSettings, ColumnMapping
from wardround.workloads.clinical_risk.values import MISSING, code_text

_SHOWN = 20  # names of a table's columns, in a message on those that are not there


def misfits(contract: Contract, site: ClinicalRiskSiteSettings) -> list[Finding]:
    """Compares site.yaml with the contract; all that does not fit, each error with its key and what is allowed."""
    excluded = {exclusion.column for exclusion in contract.exclusions}
    missing = [
        *_unmapped(contract.columns, site.columns, "columns"),
        *_unmapped(excluded, site.exclusions, "exclusions"),
    ]
    if site.columns and not any(site.columns.values()):
        missing.append(_at("columns", "all are null", expected="at least one that comes from the table"))
    faults = [fault for name, column in contract.columns.items() for fault in _misfits(name, column, site)]
    faults += _unknown_targets(
        "outcome.codes", site.outcome.codes, (contract.outcome.positive, contract.outcome.negative, MISSING)
    )
    faults += _clashes("outcome.codes", site.outcome.codes)
    for exclusion in contract.exclusions:
        faults += _exclusion_faults(exclusion, site.exclusions.get(exclusion.column))
    return [
        *_errors(Reason.COLUMN_MISSING, missing),
        *_errors(Reason.CONFIGURATION_INVALID, faults),
        *undeclared(contract, site),
    ]


def wanted_columns(site: ClinicalRiskSiteSettings, *, labelled: bool) -> dict[str, str]:
    """Columns of the source that are needed, each with the first key of site.yaml that names it."""
    wanted: dict[str, str] = {}
    for key, column in _named(site, labelled=labelled):
        if column is not None:
            wanted.setdefault(column, key)
    return wanted


def missing_columns(wanted: Mapping[str, str], there: Iterable[str], source: str) -> list[Finding]:
    """Compares what site.yaml names with what the source has: an error for each column that is not there.

    Names that look like it stand with each, and all that the source has with all of them.
    """
    there = list(there)
    faults = []
    for column, key in wanted.items():
        if column in there:
            continue
        lowered = {name.lower(): name for name in there}
        near = difflib.get_close_matches(column.lower(), list(lowered), n=3, cutoff=0.6)
        hint = f" (did you mean {' or '.join(lowered[name] for name in near)}?)" if near else ""
        faults.append(_at(key, f"no column {column!r} in {source}{hint}", advice=_has(there)))
    return _errors(Reason.COLUMN_MISSING, faults)


def _named(site: ClinicalRiskSiteSettings, *, labelled: bool) -> Iterator[tuple[str, str | None]]:
    yield "patient", site.patient
    yield "row_id", site.row_id
    yield "index_date", site.index_date
    yield from ((f"rows.{column}", column) for column in site.rows)
    for section, mappings in (("columns", site.columns), ("exclusions", site.exclusions)):
        for name, mapping in mappings.items():
            if mapping is None:
                continue
            yield f"{section}.{name}.column", mapping.column
            yield f"{section}.{name}.time", mapping.time
    if labelled:
        yield "outcome.column", site.outcome.column
        yield "split_column", site.split_column


def _has(names: list[str]) -> str:
    shown = ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
    return f"name the column that holds it; the table has {shown}"


def _unmapped(asked: Iterable[Name], mapped: Iterable[Name], section: str) -> list[Fault]:
    asked, mapped = list(asked), list(mapped)
    unknown = [name for name in mapped if name not in asked]
    faults = []
    for name in sorted(set(asked) - set(mapped), key=asked.index):
        near = difflib.get_close_matches(name, unknown, n=1)
        hint = f"did you write it {near[0]}?" if near else "say which column of the table it is"
        faults.append(_at(f"{section}.{name}", "missing", advice=f"the contract asks for it: {hint}"))
    for name in unknown:
        near = difflib.get_close_matches(name, asked, n=1)
        hint = f"did you mean {near[0]}?" if near else "remove it"
        faults.append(_at(f"{section}.{name}", "the contract has no such column", advice=hint))
    return faults


def _misfits(name: Name, column: NumberColumn | CategoryColumn, site: ClinicalRiskSiteSettings) -> Iterator[Fault]:
    mapping = site.columns.get(name)
    if mapping is None:
        return
    key = f"columns.{name}"
    yield from _clashes(f"{key}.codes", mapping.codes)
    both = sorted({code_text(code) for code in mapping.codes} & {code_text(code) for code in mapping.missing})
    if both:
        yield _at(key, f"{', '.join(both)} is among `codes` and among `missing`", advice="keep one")
    if isinstance(column, CategoryColumn):
        if mapping.unit is not None:
            told = f"{mapping.unit}: the contract has categories here, which have no unit"
            yield _at(f"{key}.unit", told, advice="remove it")
        allowed = (*column.values, *((OTHER,) if column.other else ()), MISSING)
        yield from _unknown_targets(f"{key}.codes", mapping.codes, allowed)
        return
    units = (column.unit, *column.units)
    if mapping.unit is not None and mapping.unit not in units:
        yield _at(f"{key}.unit", f"{mapping.unit!r} is not accepted", advice=_unit_advice(mapping.unit, units))
    for code, target in mapping.codes.items():
        if target != MISSING and not _is_number(target):
            expected = f"a number in the site's unit, or {MISSING}"
            yield _at(f"{key}.codes", f"{code!r} stands for {target!r}", expected=expected)


def _unknown_targets(key: str, codes: Mapping[str, str], allowed: Iterable[str]) -> Iterator[Fault]:
    allowed = list(allowed)
    for code, target in codes.items():
        if target not in allowed:
            near = difflib.get_close_matches(target, allowed, n=1)
            hint = f"did you mean {near[0]}?" if near else f"expected one of {', '.join(allowed)}"
            yield _at(key, f"{code!r} stands for {target!r}, which the contract does not have", advice=hint)


def _clashes(key: str, codes: Mapping[str, str]) -> Iterator[Fault]:
    forms: dict[str, str] = {}
    for code, target in codes.items():
        if forms.setdefault(code_text(code), target) != target:
            told = f"{code!r} is the same as {code_text(code)!r}, which stands for another value"
            yield _at(key, told, advice="keep one")


def _exclusion_faults(exclusion: Exclusion, mapping: ColumnMapping | None) -> Iterator[Fault]:
    if mapping is None:
        return
    key = f"exclusions.{exclusion.column}"
    yield from _clashes(f"{key}.codes", mapping.codes)
    yield from _slips(f"{key}.codes", mapping.codes, exclusion)
    for name in ("unit", "missing", "time", "known_at_index"):
        if getattr(mapping, name) != ColumnMapping.model_fields[name].default:
            told = "does nothing for an exclusion, which leaves out rows by `codes` alone"
            yield _at(f"{key}.{name}", told, advice="remove it")


def _slips(key: str, codes: Mapping[str, str], exclusion: Exclusion) -> Iterator[Fault]:
    """Targets that look like a value of the exclusion and are none: patients to be left out would get in.

    A contract names the values that exclude alone, so any other word may stand for those that do not.
    """
    for code, target in codes.items():
        near = difflib.get_close_matches(target, exclusion.values, n=1, cutoff=0.8)
        if near and target not in exclusion.values:
            told = f"{code!r} stands for {target!r}, which the contract does not have"
            yield _at(key, told, advice=f"did you mean {near[0]}?")
    if codes and not set(codes.values()) & set(exclusion.values):
        told = f"no code stands for {' or '.join(exclusion.values)}, so no row would be left out"
        yield _at(key, told, advice="name one")


def _unit_advice(unit: str, accepted: Sequence[str]) -> str:
    lowered = {one.lower(): one for one in accepted}
    near = difflib.get_close_matches(unit.lower().replace("µ", "u"), list(lowered), n=1, cutoff=0.75)
    if near:
        return f"did you mean {lowered[near[0]]}? The contract takes {', '.join(accepted)}"
    return f"the contract takes {', '.join(accepted)}: convert the values, or ask the study for the unit"


def _is_number(text: str) -> bool:
    try:
        return float(text) - float(text) == 0  # neither infinite nor NaN
    except ValueError:
        return False


def _at(key: str, found: str, *, expected: str = "", advice: str = "") -> Fault:
    return fault(found, file="site.yaml", key=key, expected=expected, advice=advice)


def _errors(kind: Reason, faults: Iterable[Fault]) -> list[Finding]:
    return [Finding.of(Severity.ERROR, kind, one) for one in faults]
