"""report.html and report.json beside a run's record."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wardround.records.reasons import Reason, WardroundError
from wardround.records.run_lines import read_lines
from wardround.reporting.model import Summary
from wardround.reporting.page import render_page
from wardround.reporting.pictures import PictureSource, embed_pictures
from wardround.reporting.summary import summarise

if TYPE_CHECKING:
    from wardround.site.config import SiteConfig

RECORD = "run.jsonl"


@dataclass(frozen=True)
class Report:
    """What was written, and the summary in it."""

    summary: Summary
    page: Path
    figures: Path


def write_report(run_folder: Path, configs: Sequence["SiteConfig"] = ()) -> Report:
    """Makes both files from the record alone; `configs` only tell whose data is generated, and add pictures of it.

    Raises:
        WardroundError: there is no record, or it does not say what the sites agreed on.
    """
    record = run_folder / RECORD
    if not record.is_file():
        raise WardroundError(Reason.DATA_MISSING, f"{record}: missing; name the folder that `wardround run` wrote")
    summary = summarise(read_lines(record))
    sources = [
        PictureSource(config.name, config.state_folder / summary.study.run / "pictures", config.synthetic)
        for config in configs
    ]
    held = {config.name for config in configs if config.synthetic}
    generated = all(site.name in held for site in summary.sites)
    page, figures = run_folder / "report.html", run_folder / "report.json"
    page.write_text(render_page(summary, embed_pictures(sources), generated=generated), encoding="utf-8")
    figures.write_text(summary.model_dump_json(indent=2) + "\n", encoding="utf-8")
    return Report(summary, page, figures)
