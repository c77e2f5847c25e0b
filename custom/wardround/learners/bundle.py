"""A checkpoint as a MONAI bundle."""

from pathlib import Path

from wardround.learners.checkpoint import Checkpoint
from wardround.learners.predict import network_of


def export_bundle(checkpoint: Checkpoint, folder: Path) -> Path:
    """Writes a checkpoint as a MONAI bundle that `python -m monai.bundle run` uses, and returns its folder.

    Args:
        checkpoint: complete.
        folder: of the bundle; made if it is not there.

    Raises:
        WardroundError: the model is incomplete (FedBN without a site's entries), or of a workload without bundles.
    """
    card = checkpoint.card
    workload, network = network_of(checkpoint)
    about = {
        "study": card.study,
        "algorithm": card.algorithm.kind,
        "model_round": card.model_round,
        "site": card.site,
        "notes": list(card.notes),
        "weights_sha256": card.weights_sha256,
    }
    workload.export_bundle(network, folder, about=about)
    return folder
