"""The generated reference names every key and every command, with what is allowed and the default."""

import re
from pathlib import Path

import pytest
import typer

import reference_pages
from settings_reference import settings_reference
from wardround.cli.main import app
from wardround.records.study import Study
from wardround.site.config import SiteConfig

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return reference_pages.pages()


def test_a_key_stands_with_what_it_takes_and_its_default(pages: dict[str, str]) -> None:
    job = pages["reference/job.md"]
    assert "## `algorithm`" in job
    assert "| `kind` | `fedavg`, `fedprox`, `fedbn`, `fedprox_fedbn`, `local_head` | `fedavg` |" in job
    assert "| `learning_rate` | number, above 0 | required |" in job
    assert "mu/2 \\|\\|w - w_global\\|\\|^2" in job  # a bar in a table ends the cell
    assert "`^(cpu|cuda(:\\d+)?)$`" in pages["reference/site.md"]  # but not within backticks
    assert "| `aliases` | names to list of text | empty |" in pages["reference/site.md"]
    assert "### `workload.network`" in job
    assert "| `contract` | [a contract](contract.md) | required |" in job


def test_variants_and_chosen_names_have_their_own_tables(pages: dict[str, str]) -> None:
    site, contract = pages["reference/site.md"], pages["reference/contract.md"]
    for kind in ("csv", "parquet", "sql"):
        assert f"### `data.clinical_risk.source, kind: {kind}`" in site
    assert "### `data.clinical_risk.columns.NAME`" in site
    assert "## `columns.NAME, type: number`" in contract
    assert "## `cohorts[]`" in contract


def test_every_key_has_a_meaning(pages: dict[str, str]) -> None:
    rows = [line for page in pages.values() for line in page.splitlines() if line.startswith("| `")]
    assert len(rows) > 100
    assert [row for row in rows if re.search(r"\|\s*\|$", row)] == []


def test_a_section_is_told_where_it_is_named() -> None:
    row = "| `disclosure` | section, below | as below | which numbers stay at the site, since too few patients stand "
    assert row in settings_reference(SiteConfig)


@pytest.mark.parametrize("model", [Study, SiteConfig])
def test_every_key_of_a_file_is_there(model: type[Study] | type[SiteConfig]) -> None:
    text = settings_reference(model)
    for key in model.model_fields:
        assert f"| `{key}` |" in text


def test_every_workload_has_its_sections() -> None:
    kinds = {file.parent.name for file in (ROOT / "custom/wardround/workloads").glob("*/workload.py")}
    assert set(reference_pages.STUDY_SECTIONS) == set(reference_pages.SITE_SECTIONS) == kinds


def test_every_option_has_a_help(pages: dict[str, str]) -> None:
    lines = [line for line in pages["reference/commands.md"].splitlines() if line.startswith("* `")]
    assert len(lines) > 50
    assert [line for line in lines if not re.match(r"\* `[^`]+`: [^\[]", line)] == []


def test_every_command_is_there(pages: dict[str, str]) -> None:
    def names(command: object, path: str) -> list[str]:
        below = getattr(command, "commands", {})
        return [path, *(name for key, part in below.items() for name in names(part, f"{path} {key}"))]

    assert not re.search(r"[a-z]\.\.\.$", pages["reference/commands.md"], re.MULTILINE)  # no sentence is cut
    for name in names(typer.main.get_command(app), "wardround")[1:]:
        assert f"# `{name}`\n" in pages["reference/commands.md"]
