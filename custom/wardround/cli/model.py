"""`wardround predict`, `adapt` and `export-bundle`: what a trained model is for."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wardround.cli.console import progress, results
from wardround.cli.finding_table import print_left_out
from wardround.cli.options import CheckpointFile
from wardround.records.notices import RESEARCH_USE
from wardround.records.reasons import Reason, WardroundError
from wardround.reporting.vocabularies import vocabulary_of
from wardround.workloads.vocabulary import Figure

if TYPE_CHECKING:
    from wardround.learners.checkpoint import Checkpoint


def predict(
    model: CheckpointFile,
    case: Annotated[Path, typer.Option(help="What to read: a case's folder, an MSD 4D image, or a table of patients.")],
    out: Annotated[Path, typer.Option(help="What to write: a label map, .nii.gz, or a table of risks, .csv.")],
    site: Annotated[
        Path | None, typer.Option(help="The site.yaml that says how files, labels or columns are named.")
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(help="For images, without --site: layout and label convention of the case, such as brats2023."),
    ] = None,
    device: Annotated[str, typer.Option(help="cpu, cuda or cuda:N.")] = "cpu",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier prediction.")] = False,
) -> None:
    """Predict at a site: segment one case on its own grid, or give each row of a table its risk."""
    from wardround.learners.checkpoint import load_checkpoint
    from wardround.learners.predict import predict_file

    checkpoint = load_checkpoint(model)
    kind = str(checkpoint.card.workload["kind"])
    data, where = _naming(checkpoint, case, site, labels)
    figures = predict_file(checkpoint, case, out, data=data, where=where, device=device, overwrite=overwrite)
    for line in figure_lines(kind, figures):
        results().print(line)
    results().print(f"{out}", soft_wrap=True)
    results().print(RESEARCH_USE)


def figure_lines(kind: str, figures: Mapping[str, float]) -> list[str]:
    """A prediction's figures under their heading, in the workload's words; one that it has no word for comes last."""
    words = vocabulary_of(kind)
    known = [figure for figure in words.figures if figure.key in figures]
    rest = [Figure(key, key.replace("_", " "), 3) for key in figures if key not in {figure.key for figure in known}]
    return [words.predicted] + [
        f"  {figure.title:<18}{figures[figure.key]:>8.{figure.digits}f}" for figure in [*known, *rest]
    ]


def adapt(
    model: CheckpointFile,
    site: Annotated[Path, typer.Option(help="The site.yaml of the hospital that the model is for.")],
    out: Annotated[Path, typer.Option(help="The checkpoint to write.")],
) -> None:
    """Re-measure a model's BatchNorm statistics on a hospital's own cases, without their labels."""
    from wardround.learners.adapt import adapt_checkpoint
    from wardround.learners.checkpoint import load_checkpoint, save_checkpoint
    from wardround.site.config import load_site_config
    from wardround.workloads.registry import workload_of

    checkpoint = load_checkpoint(model)
    config = load_site_config(site)
    workload = workload_of(checkpoint.card.workload)
    kind, study = str(checkpoint.card.workload["kind"]), checkpoint.card.study
    data = workload.open_site(
        config.section(kind, study),
        cache=config.cache_folder,
        disclosure=config.disclosure,
        where=config.section_name(kind, study),
    )
    print_left_out(progress(), data.findings.warnings)
    progress().print(f"re-measuring statistics at {config.name}", soft_wrap=True)
    adapted = adapt_checkpoint(checkpoint, workload, data, site=config.name, device=config.device)
    results().print(f"{save_checkpoint(out, adapted)}", soft_wrap=True)


def export_bundle(
    model: CheckpointFile,
    out: Annotated[Path, typer.Option(help="The bundle's folder.")],
) -> None:
    """Write a MONAI bundle, for `python -m monai.bundle run`."""
    from wardround.learners.bundle import export_bundle as export
    from wardround.learners.checkpoint import load_checkpoint

    results().print(f"{export(load_checkpoint(model), out)}", soft_wrap=True)


def _naming(checkpoint: "Checkpoint", case: Path, site: Path | None, labels: str | None) -> tuple[dict[str, Any], str]:
    """How files and labels are named: the workload's section of a site.yaml, and that section's name."""
    from wardround.site.config import load_site_config
    from wardround.workloads.registry import workload_of

    kind, study = str(checkpoint.card.workload["kind"]), checkpoint.card.study
    if site is not None and labels is None:
        config = load_site_config(site)
        return config.section(kind, study), config.section_name(kind, study)
    workload = workload_of(checkpoint.card.workload)
    known = ", ".join(workload.conventions)
    if not known:
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            f"predict: give --site SITE_YAML, which says how the hospital's data maps to the study's, and no --labels: "
            f"this is a model of the workload {kind}",
        )
    if site is not None or labels is None:
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            f"predict: give --site SITE_YAML, or --labels with one of {known}, and not both; values mean other things "
            "in each, so none is assumed",
        )
    if labels not in workload.conventions:
        raise WardroundError(
            Reason.CONFIGURATION_INVALID, f"--labels {labels}: the workload {kind} knows {known}; name one of these"
        )
    return workload.section_by_convention(case.absolute(), labels), "predict"
