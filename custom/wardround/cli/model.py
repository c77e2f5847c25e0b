"""`wardround predict`, `adapt` and `export-bundle`: what a trained model is for."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from wardround.cli.console import progress, results
from wardround.cli.options import CheckpointFile
from wardround.records.notices import RESEARCH_USE
from wardround.records.reasons import Reason, WardroundError
from wardround.reporting.vocabulary import in_part_order, part_in_words


def predict(
    model: CheckpointFile,
    case: Annotated[Path, typer.Option(help="A case's folder, or for MSD its 4D image.")],
    out: Annotated[Path, typer.Option(help="The label map to write, .nii.gz.")],
    site: Annotated[Path | None, typer.Option(help="The site.yaml that says how files and labels are named.")] = None,
    labels: Annotated[
        Literal["brats2018", "brats2023", "msd"] | None,
        typer.Option(help="Without --site: layout and label convention of the case."),
    ] = None,
    device: Annotated[str, typer.Option(help="cpu, cuda or cuda:N.")] = "cpu",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier prediction.")] = False,
) -> None:
    """Segment one case, on its own grid and in the site's label convention."""
    from wardround.learners.checkpoint import load_checkpoint
    from wardround.learners.predict import predict_file

    if (site is None) == (labels is None):
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            "predict: give --site SITE_YAML, or --labels with brats2018, brats2023 or msd, and not both; "
            "label values mean different tissues in each, so none is assumed",
        )
    checkpoint = load_checkpoint(model)
    data, folder = _naming(case, site, labels, str(checkpoint.card.workload["kind"]))
    volumes = predict_file(checkpoint, case, out, data=data, folder=folder, device=device, overwrite=overwrite)
    results().print("predicted volumes in ml")
    for region in in_part_order(volumes):
        results().print(f"  {part_in_words(region):<18}{volumes[region]:>8.1f}")
    results().print(f"{out}", soft_wrap=True)
    results().print(RESEARCH_USE)


def adapt(
    model: CheckpointFile,
    site: Annotated[Path, typer.Option(help="The site.yaml of the hospital that the model is for.")],
    out: Annotated[Path, typer.Option(help="The checkpoint to write.")],
) -> None:
    """Re-measure a model's BatchNorm statistics on a hospital's own unlabelled cases."""
    from wardround.learners.adapt import adapt_checkpoint
    from wardround.learners.checkpoint import load_checkpoint, save_checkpoint
    from wardround.site.config import load_site_config
    from wardround.workloads.workload import workload_of

    checkpoint = load_checkpoint(model)
    config = load_site_config(site)
    workload = workload_of(checkpoint.card.workload)
    data = workload.open_site(
        config.section(str(checkpoint.card.workload["kind"]), checkpoint.card.study),
        folder=config.source.parent,
        cache=config.cache_folder,
        disclosure=config.disclosure,
    )
    for problem in data.problems:
        progress().print(f"left out: {problem.code}: {problem}", soft_wrap=True, markup=False)
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


def _naming(case: Path, site: Path | None, labels: str | None, kind: str) -> tuple[dict[str, Any], Path]:
    """How the site names files and labels: the workload's section of its site.yaml, and where its paths start."""
    from wardround.site.config import load_site_config

    if site is None:
        folder = case.absolute()  # no more than it is known to hold images: predictions may lie beside it
        return {"folder": ".", "layout": labels, "labels": labels}, folder.parent if labels == "msd" else folder
    config = load_site_config(site)
    return config.section(kind), config.source.parent
