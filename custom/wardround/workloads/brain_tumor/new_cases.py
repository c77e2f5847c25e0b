"""Cases of a hospital's folder that a released model is watched by."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path

from wardround.records.changed import changed
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.brain_tumor.open_site import open_site_data
from wardround.workloads.brain_tumor.settings import BrainTumorSettings, BrainTumorSiteSettings, Split
from wardround.workloads.brain_tumor.site_data import BrainTumorSiteData
from wardround.workloads.chosen import chosen_places
from wardround.workloads.progress import Progress
from wardround.workloads.split import SPLITS


def open_new_cases(
    settings: BrainTumorSettings,
    site: BrainTumorSiteSettings,
    *,
    cache: Path,
    progress: Progress,
    since: date | None,
    only: Sequence[str],
) -> BrainTumorSiteData:
    """Every usable labelled case that is asked for, in the split `test`, whatever split it would be in for training;
    `left_out` is that of the whole folder.

    Args:
        since: images carry no date, so this must be None.
        only: ids of cases or patients.

    Raises:
        WardroundError: a date is given, or there is no such case.
    """
    if since is not None:
        raise WardroundError(
            Reason.CONFIGURATION_INVALID, "--since: images carry no date; name the new cases with --cases"
        )
    everyone = changed(site, split=Split())  # lists would leave out whoever is new
    data = open_site_data(settings, everyone, cache=cache, progress=progress)
    cases = [case for split in SPLITS for case in data.cases(split)]
    places = chosen_places(only, [case.case for case in cases], [case.patient for case in cases])
    chosen = [cases[place] for place in places]
    if not chosen:
        raise WardroundError(Reason.DATA_MISSING, f"{site.folder}: no labelled case, so there is none to score")
    left_out = data.counts["left_out"]
    return BrainTumorSiteData(settings, {"test": chosen}, findings=data.findings.warnings, left_out=left_out)
