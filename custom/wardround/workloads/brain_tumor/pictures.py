"""A case as a picture: its sequences, its label and a prediction. It shows a patient, so it stays in the site's folder.

The slice is the axial one with the most tumor, seen as radiologists do: the patient's right is on the left.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Patch as LegendPatch
from numpy.typing import NDArray
from torch import nn

from wardround.records.files import private_file, private_folder
from wardround.workloads.brain_tumor.inference import predict_probabilities
from wardround.workloads.brain_tumor.prepared import PreparedCase
from wardround.workloads.brain_tumor.settings import BrainTumorSettings, ImageContract
from wardround.workloads.evaluation import evaluation_mode

TISSUES = {  # told apart by lightness too, for readers who do not see red and green apart
    "edema": (0.35, 0.70, 0.90),
    "necrotic core": (0.80, 0.25, 0.10),
    "enhancing tumor": (0.95, 0.90, 0.25),
}
_OPACITY = 0.6
_DOTS_PER_INCH = 110


def draw_cases(
    network: nn.Module, cases: Sequence[PreparedCase], settings: BrainTumorSettings, folder: Path, *, count: int = 1
) -> list[Path]:
    """Predicts and draws `count` cases into folder/<case>.png: the first whose label holds all three regions.

    The first by id and not the best or worst, so that the picture does not flatter. The network
    is left in the mode that it had.
    """
    labelled = [case for case in cases if case.label is not None]
    full = [case for case in labelled if case.label is not None and case.label.any(axis=(1, 2, 3)).all()]
    chosen = (full + [case for case in labelled if case not in full])[:count]
    files = []
    for case in chosen:
        with evaluation_mode(network):
            prediction = predict_probabilities(network, case.image, settings) > 0.5
        files.append(folder / f"{case.case}.png")
        draw_case(case, prediction.cpu().numpy(), files[-1], settings.contract)
    return files


def draw_case(case: PreparedCase, prediction: NDArray, file: Path, contract: ImageContract) -> None:
    """Draws one case as a PNG.

    Args:
        case: with its image, and its label where it has one.
        prediction: regions [3 (TC, WT, ET), X, Y, Z] on the case's own grid, true inside.
        file: the picture; its folder is made for this user alone if it is not there.
        contract: names the sequences and says which way the axes point.
    """
    label = case.label if case.label is not None else np.zeros_like(prediction)
    height = fullest_slice(label if label[1].any() else prediction)
    sequences = [axial(channel, height, contract) for channel in case.image]
    background = sequences[contract.sequences.index("t2f")] if "t2f" in contract.sequences else sequences[-1]
    panels: list[tuple[str, NDArray]] = [
        (name, gray(view)) for name, view in zip(contract.sequences, sequences, strict=True)
    ]
    for title, regions in (("label", label), ("prediction", prediction)):
        views = np.stack([axial(region, height, contract) for region in regions]).astype(bool)
        panels.append((title, overlay(gray(background), views)))
    figure = Figure(figsize=(2.1 * len(panels), 2.7), dpi=_DOTS_PER_INCH, facecolor="black")
    FigureCanvasAgg(figure)
    for place, (title, picture) in enumerate(panels, 1):
        _draw_panel(figure.add_subplot(1, len(panels), place), title, picture, case.spacing_mm)
    figure.legend(
        handles=[LegendPatch(color=color, label=name) for name, color in TISSUES.items()],
        loc="lower center",
        ncols=len(TISSUES),
        frameon=False,
        labelcolor="white",
        fontsize=8,
    )
    figure.subplots_adjust(left=0.005, right=0.995, top=0.9, bottom=0.12, wspace=0.03)
    private_folder(file.parent)
    figure.savefig(private_file(file), metadata={"Software": None})


def _draw_panel(axes: Axes, title: str, picture: NDArray, spacing_mm: tuple[float, float, float]) -> None:
    axes.imshow(picture, interpolation="nearest", aspect=spacing_mm[1] / spacing_mm[0])
    axes.set_title(title, color="white", fontsize=9)
    axes.set_axis_off()


def fullest_slice(regions: NDArray) -> int:
    """The axial slice of regions [3 (TC, WT, ET), X, Y, Z] with the most tumor, or the middle one."""
    area = np.asarray(regions[1]).sum(axis=(0, 1))
    return int(area.argmax()) if area.any() else area.size // 2


def axial(volume: NDArray, height: int, contract: ImageContract) -> NDArray:
    """Rows from front to back, columns from the patient's right to the left."""
    plane = np.asarray(volume[:, :, height]).T
    if contract.orientation == "RAS":  # x grows to the patient's right, y to the front
        plane = plane[::-1, ::-1]
    return plane


def gray(view: NDArray) -> NDArray:
    """RGB in 0 to 1, cut at the brain's 1st and 99th percentile; the background, which is exactly 0, stays black."""
    brain = view != 0
    if not brain.any():
        return np.zeros((*view.shape, 3))
    low, high = np.percentile(view[brain], (1, 99))
    scaled = np.clip((view - low) / max(high - low, 1e-6), 0, 1) * 0.92 + 0.08
    return np.repeat((scaled * brain)[..., None], 3, axis=2)


def overlay(background: NDArray, regions: NDArray) -> NDArray:
    """The tissues' colors over an RGB slice."""
    core, whole, enhancing = regions
    picture = background.copy()
    masks = (whole & ~core & ~enhancing, core & ~enhancing, enhancing)
    for mask, color in zip(masks, TISSUES.values(), strict=True):
        picture[mask] = (1 - _OPACITY) * picture[mask] + _OPACITY * np.array(color)
    return picture
