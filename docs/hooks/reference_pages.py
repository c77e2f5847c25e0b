"""The reference pages, made from the code at every build of the documentation, so that they are never stale."""

from collections.abc import Iterator
from typing import Any

import typer
from typer.cli import get_docs_for_click

from settings_reference import settings_reference
from wardround.cli.main import app
from wardround.records.study import Study
from wardround.site.config import SiteConfig
from wardround.workloads.brain_tumor.settings import BrainTumorSettings, BrainTumorSiteSettings
from wardround.workloads.clinical_risk.contract import Contract
from wardround.workloads.clinical_risk.settings import ClinicalRiskSettings, ClinicalRiskSiteSettings

STUDY_SECTIONS = {"brain_tumor": BrainTumorSettings, "clinical_risk": ClinicalRiskSettings}
SITE_SECTIONS = {"brain_tumor": BrainTumorSiteSettings, "clinical_risk": ClinicalRiskSiteSettings}
_MADE = "This page is made from the code that reads the file. A key that is not here is refused, with the nearest name."


def on_files(files: Any, config: Any) -> Any:
    """Adds the pages to those of `docs/`. The documentation builder calls this."""
    from properdocs.structure.files import File

    for name, content in pages().items():
        files.append(File.generated(config, name, content=content))
    return files


def pages() -> dict[str, str]:
    """Every generated page: its path under `docs/`, to its Markdown."""
    return {
        "reference/commands.md": _commands(),
        "reference/job.md": _job(),
        "reference/contract.md": f"# contract.yaml\n\n{_MADE}\n\n{settings_reference(Contract)}",
        "reference/site.md": _site(),
    }


def _commands() -> str:
    command = typer.main.get_command(app)
    for part in _below(command):
        part.short_help = (part.help or "").partition("\n")[0]  # a list of commands else cuts it at 45 characters
    context = typer.Context(command, info_name="wardround")
    return get_docs_for_click(obj=command, ctx=context, name="wardround", title="Commands")


def _below(command: Any) -> Iterator[Any]:
    for part in getattr(command, "commands", {}).values():
        yield part
        yield from _below(part)


def _job() -> str:
    parts = [f"# job.yaml\n\n{_MADE}\n\n{settings_reference(Study)}"]
    for kind, model in STUDY_SECTIONS.items():
        parts.append(f"## `workload`, kind: {kind}\n\n{_settings(model, 'workload')}")
    return "\n".join(parts)


def _site() -> str:
    parts = [f"# site.yaml\n\n{_MADE}\n\n{settings_reference(SiteConfig)}"]
    for kind, model in SITE_SECTIONS.items():
        parts.append(f"## `data.{kind}`\n\n{_settings(model, f'data.{kind}')}")
    return "\n".join(parts)


def _settings(model: Any, path: str) -> str:
    """A section's tables, without its own heading, which the page has."""
    return settings_reference(model, path, level=3).partition("\n\n")[2]
