"""`wardround predict`, `adapt` and `export-bundle`: what a trained model is for."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from wardround.cli.console import progress, results
from wardround.cli.options import CheckpointFile
from wardround.records.reasons import Reason, WardroundError

if TYPE_CHECKING:
    from torch import nn

    from wardround.learners.checkpoint import CheckpointCard
    from wardround.workloads.brain_tumor.settings import BrainTumorSettings, BrainTumorSiteSettings

_BRAIN_TUMOR = "brain_tumor"


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
) -> None:
    """Segment one case, on its own grid and in the site's label convention."""
    from wardround.workloads.brain_tumor.predict import predict_case

    naming = _naming(case, site, labels)
    network, settings, _ = _ready_network(model)
    volumes = predict_case(network.to(device), case, out, settings, naming)
    for region, milliliters in volumes.items():
        results().print(f"{region.upper()} {milliliters:.1f} ml")
    results().print(f"{out}", soft_wrap=True)


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
        config.section(str(checkpoint.card.workload["kind"])), folder=config.source.parent, cache=config.cache_folder
    )
    progress().print(f"re-measuring statistics at {config.name}", soft_wrap=True)
    adapted = adapt_checkpoint(checkpoint, workload, data, site=config.name, device=config.device)
    results().print(f"{save_checkpoint(out, adapted)}", soft_wrap=True)


def export_bundle(
    model: CheckpointFile,
    out: Annotated[Path, typer.Option(help="The bundle's folder.")],
) -> None:
    """Write a MONAI bundle, for `python -m monai.bundle run`."""
    from wardround.workloads.brain_tumor.bundle import write_bundle

    network, settings, card = _ready_network(model)
    about = {
        "study": card.study,
        "algorithm": card.algorithm.kind,
        "model_round": card.model_round,
        "weights_sha256": card.weights_sha256,
    }
    write_bundle(network, settings, out, about=about)
    results().print(f"{out}", soft_wrap=True)


def _ready_network(model: Path) -> tuple["nn.Module", "BrainTumorSettings", "CheckpointCard"]:
    """The network with its weights, in evaluation mode; refuses what cannot predict."""
    from wardround.learners.checkpoint import load_checkpoint
    from wardround.learners.fill import fill_network
    from wardround.records.study import validated
    from wardround.workloads.brain_tumor.settings import BrainTumorSettings
    from wardround.workloads.workload import workload_of

    checkpoint = load_checkpoint(model)
    checkpoint.require_complete()
    _require_brain_tumor(checkpoint.card, model)
    section = {key: value for key, value in checkpoint.card.workload.items() if key != "kind"}
    settings = validated(BrainTumorSettings, section, f"{model}: workload")
    network = workload_of(checkpoint.card.workload).network()
    fill_network(network, checkpoint.tensors)
    return network.eval(), settings, checkpoint.card


def _require_brain_tumor(card: "CheckpointCard", model: Path) -> None:
    kind = card.workload.get("kind")
    if kind != _BRAIN_TUMOR:
        raise WardroundError(
            Reason.CONFIGURATION_INVALID, f"{model}: a {kind} model; this command is for {_BRAIN_TUMOR} models"
        )


def _naming(case: Path, site: Path | None, labels: str | None) -> "BrainTumorSiteSettings":
    from wardround.records.study import validated
    from wardround.site.config import load_site_config
    from wardround.workloads.brain_tumor.settings import BrainTumorSiteSettings

    if (site is None) == (labels is None):
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            "predict: give --site SITE_YAML, or --labels with brats2018, brats2023 or msd, and not both; "
            "label values mean different tissues in each, so none is assumed",
        )
    if site is None:
        section: dict = {"folder": str(case.parent), "layout": labels, "labels": labels}
        return validated(BrainTumorSiteSettings, section, "--labels")
    config = load_site_config(site)
    return validated(BrainTumorSiteSettings, config.section(_BRAIN_TUMOR), str(site))
