"""One case in, one label map out, on the input's grid and in the site's own label convention."""

from pathlib import Path

import numpy as np
from torch import nn

from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.brain_tumor.grid import restore_regions, save_labels
from wardround.workloads.brain_tumor.inference import predict_probabilities
from wardround.workloads.brain_tumor.labels import from_regions, to_regions
from wardround.workloads.brain_tumor.layouts import CaseFiles, read_case_files
from wardround.workloads.brain_tumor.msd import read_dataset
from wardround.workloads.brain_tumor.prepared import read_case
from wardround.workloads.brain_tumor.settings import REGIONS, BrainTumorSettings, BrainTumorSiteSettings
from wardround.workloads.opt_out import refuse_opted_out


def predict_case(
    network: nn.Module, path: Path, file: Path, settings: BrainTumorSettings, site: BrainTumorSiteSettings
) -> dict[str, float]:
    """Segments one case and writes the label map with the input's shape and affine.

    Probabilities are resampled to the input's voxels before the cut at 0.5, so that outlines stay smooth.

    Args:
        network: complete and in evaluation mode, on any device.
        path: a case folder, or for MSD the 4D image.
        file: the label map to write, .nii.gz or .nii.
        settings: the study's, as the checkpoint holds them.
        site: how this hospital names its sequences and labels.

    Returns:
        Volume of each region in milliliters, by the region's name.

    Raises:
        WardroundError: the case cannot be read or breaks the contract, its patient opted out, the output would
            overwrite an input, or the network gave values that are not finite.
    """
    files = read_case_files(path, site, settings.contract.sequences)
    refuse_opted_out(site.opt_out_file, files.patient, path)
    _refuse_overwriting(file, path, files, site)
    case = read_case(path, settings, site)
    probabilities = predict_probabilities(network, case.image, settings).cpu().numpy()
    if not np.isfinite(probabilities).all():
        raise WardroundError(Reason.NOT_FINITE, f"{path}: the network gave NaN; its weights are broken, use another")
    regions = restore_regions(probabilities, case.grid)
    labels = from_regions(regions, site.labels)
    save_labels(file, labels, case.grid)
    voxel_ml = abs(float(np.linalg.det(case.grid.input_affine[:3, :3]))) / 1000
    nested = to_regions(labels, site.labels, str(file))
    return {region: float(mask.sum()) * voxel_ml for region, mask in zip(REGIONS, nested, strict=True)}


def _refuse_overwriting(file: Path, path: Path, files: CaseFiles, site: BrainTumorSiteSettings) -> None:
    """Images and labels may have any name, and a volume among them would be taken for a case's at the next start."""
    inputs = [volume.file for volume in files.volumes.values()]
    if site.layout == "msd":  # whose list may lead out of its folder
        inputs += [one for pair in read_dataset(site.folder, site.labels).training for one in pair if one]
    target = file.resolve()  # through links, which would lead a write to what they name
    among = any(target.is_relative_to(folder.resolve()) for folder in (path, site.folder))
    if among or target in {one.resolve() for one in inputs}:
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            f"{file}: is an image or label, or lies among them; write predictions elsewhere",
        )
