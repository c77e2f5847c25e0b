"""A checkpoint as a MONAI bundle."""

from pathlib import Path

from wardround.learners.checkpoint import load_checkpoint
from wardround.learners.predict import network_of
from wardround.records.reasons import Reason, WardroundError


def export_bundle(model: Path, folder: Path) -> Path:
    """Writes a checkpoint as a MONAI bundle that `python -m monai.bundle run` uses, and returns its folder.

    Args:
        model: the checkpoint, either of its two files.
        folder: of the bundle; made if it is not there.

    Raises:
        WardroundError: the model is incomplete (FedBN without a site's entries), or of a workload without bundles.
    """
    checkpoint = load_checkpoint(model)
    card = checkpoint.card
    kind = card.workload.get("kind")
    if kind != "brain_tumor":
        raise WardroundError(
            Reason.CONFIGURATION_INVALID, f"{model}: bundles are for brain_tumor models, this is a {kind} model"
        )
    workload, network = network_of(checkpoint)
    from wardround.workloads.brain_tumor.bundle import write_bundle
    from wardround.workloads.brain_tumor.workload import BrainTumorWorkload

    assert isinstance(workload, BrainTumorWorkload)
    about = {
        "study": card.study,
        "algorithm": card.algorithm.kind,
        "model_round": card.model_round,
        "site": card.site,
        "notes": list(card.notes),
        "weights_sha256": card.weights_sha256,
    }
    write_bundle(network, workload.settings, folder, about=about)
    return folder
