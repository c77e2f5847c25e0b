"""Prepares a site's cases one after the other: each from the cache, or from its files."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from wardround.records.changed import changed
from wardround.records.faults import fault
from wardround.records.inspection import Finding, Severity
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.being_read import being_read
from wardround.workloads.brain_tumor.case_cache import CaseCache
from wardround.workloads.brain_tumor.copies import Copies, file_of
from wardround.workloads.brain_tumor.layouts import CaseFiles
from wardround.workloads.brain_tumor.prepared import PreparedCase
from wardround.workloads.brain_tumor.preprocess import Preparation, go_on, prepare
from wardround.workloads.brain_tumor.settings import BrainTumorSettings, BrainTumorSiteSettings
from wardround.workloads.progress import Progress, unseen

_log = logging.getLogger(__name__)
_PROGRESS_SECONDS = 5.0


@dataclass(frozen=True)
class Prepared:
    """What preparing gave.

    Args:
        cases: those that are used.
        problems: why the others are not, by case.
        findings: what is to be known of those that are used.
    """

    cases: list[PreparedCase] = field(default_factory=list)
    problems: dict[str, WardroundError] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)


def prepare_cases(
    cases: Sequence[CaseFiles],
    settings: BrainTumorSettings,
    site: BrainTumorSiteSettings,
    store: CaseCache,
    splits: Mapping[str, str],
    *,
    refused: Mapping[str, WardroundError] = MappingProxyType({}),
    progress: Progress = unseen,
) -> Prepared:
    """Prepares all cases that can be.

    Args:
        cases: as found.
        settings: the study's.
        site: the site's.
        store: the cache.
        splits: patient to split, for what is told of copies.
        refused: why some of them cannot be prepared, where that is known already, by case.
        progress: is told how many cases are done.
    """
    done = Prepared()
    copies = Copies(splits)
    last = time.monotonic()
    for number, files in enumerate(cases, 1):
        try:
            if files.case in refused:
                raise refused[files.case]
            preparation = prepared_once(files, settings, site, store)
            shared = copies.look(files, preparation.contents)
            done.cases.append(
                PreparedCase.of(
                    files.case, files.patient, preparation, settings.patch.size, settings.contract.spacing_mm
                )
            )
            done.findings.extend([*_remarks(files, preparation), *shared])
        except WardroundError as error:
            done.problems[files.case] = error
        except Exception as error:  # one file that nobody foresaw must not take the hospital's other cases along
            _log.info("%s: cannot be prepared", files.case, exc_info=True)
            done.problems[files.case] = unforeseen(files.case, error)
        progress("cases", number, len(cases))
        if time.monotonic() - last > _PROGRESS_SECONDS:
            last = time.monotonic()
            _log.info("prepared %d of %d cases", number, len(cases))
    store.hashes.save()
    return done


def prepared_once(
    files: CaseFiles,
    settings: BrainTumorSettings,
    site: BrainTumorSiteSettings,
    store: CaseCache,
    between_steps: Callable[[], None] = go_on,
) -> Preparation:
    """From the cache, or made and put there; for `between_steps` see `prepare`.

    Raises:
        WardroundError: the case cannot be used.
    """
    contract = settings.contract
    try:
        key = store.key(files, contract, site)
    except OSError as error:
        raise WardroundError(
            Reason.DATA_UNREADABLE,
            fault(str(error.strerror), file=error.filename, advice="check the file and its permissions"),
        ) from error

    def make() -> Preparation:
        with being_read(store.folder, files.case):
            return prepare(files, contract, site, between_steps=between_steps)

    return store.get(key, make)


def unforeseen(case: str, error: Exception) -> WardroundError:
    """What nobody foresaw, as what a case is left out for."""
    # torch has no class of its own for a CPU that is out of memory
    starved = isinstance(error, MemoryError) or "allocate" in str(error)
    code = Reason.OUT_OF_MEMORY if starved else Reason.DATA_UNREADABLE
    what = f"{type(error).__name__}: {error}".splitlines()[0]
    advice = "look at its files, or leave the case out"
    return WardroundError(code, fault(f"cannot be prepared ({what})", case=case, advice=advice))


def of_case(error: WardroundError, case: str) -> WardroundError:
    """The same, with the case beside the file."""
    placed = (changed(one, where=changed(one.where, case=case)) for one in error.faults)
    return WardroundError(error.code, *placed)


def _remarks(files: CaseFiles, preparation: Preparation) -> list[Finding]:
    told = [remark.placed(files.case, file_of(files, remark.part)) for remark in preparation.remarks]
    if preparation.missing:
        stand_in = fault(
            f"zeros stand in for {', '.join(preparation.missing)}",
            case=files.case,
            advice="site.yaml allows it in `allow_missing`; nothing has to be done",
        )
        told.append(Finding.of(Severity.NOTE, Reason.SEQUENCE_MISSING, stand_in))
    return told
