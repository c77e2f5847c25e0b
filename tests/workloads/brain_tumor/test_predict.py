import json
from pathlib import Path

import nibabel as nib
import numpy as np
import pytest
import torch
from torch import Tensor, nn

from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.brain_tumor.predict import predict_case
from wardround.workloads.brain_tumor.settings import BrainTumorSettings, BrainTumorSiteSettings

SETTINGS = BrainTumorSettings.model_validate({"patch": {"size": [16, 16, 16]}})
VALUES = {"brats2018": (1, 2, 4), "brats2023": (1, 2, 3)}  # core, edema, enhancing
SUFFIXES = {"brats2018": ("_", ("t1", "t1ce", "t2", "flair")), "brats2023": ("-", ("t1n", "t1c", "t2w", "t2f"))}


class _Thresholds(nn.Module):
    """Tumor is where a sequence is bright: TC on t1n, WT on t2f, ET on t1c."""

    def __init__(self) -> None:
        super().__init__()
        self.sharpness = nn.Parameter(torch.tensor(20.0))

    def forward(self, image: Tensor) -> Tensor:
        return self.sharpness * (image[:, [0, 3, 1]] - 1.0)


def _write_case(folder: Path, layout: str, affine: np.ndarray, shape: tuple[int, int, int]) -> tuple[Path, np.ndarray]:
    """A brain that is an ellipsoid of 100 with a lesion of nested boxes: 400 where a sequence sees it."""
    case = folder / "CASE-001"
    case.mkdir(parents=True)
    center = [(side - 1) / 2 for side in shape]
    grid = np.indices(shape)
    inside = sum(((g - c) / (0.45 * s)) ** 2 for g, c, s in zip(grid, center, shape, strict=True)) < 1
    brain = np.where(inside, 100 + np.random.default_rng(0).uniform(-5, 5, shape), 0)

    def box(half: float) -> np.ndarray:
        near = [np.abs(g - c - 0.08 * s) <= half * s for g, c, s in zip(grid, center, shape, strict=True)]
        return np.logical_and.reduce(near) & inside

    whole, core, enhancing = box(0.2), box(0.14), box(0.08)
    bright = {0: core, 1: enhancing, 2: whole, 3: whole}
    separator, tags = SUFFIXES[layout]
    for index, tag in enumerate(tags):
        image = np.where(bright[index], 400, brain).astype(np.int16)
        nib.save(nib.Nifti1Image(image, affine), case / f"CASE-001{separator}{tag}.nii.gz")
    core_value, edema_value, enhancing_value = VALUES[layout]
    labels = np.where(enhancing, enhancing_value, np.where(core, core_value, np.where(whole, edema_value, 0)))
    return case, labels


LPS = np.array([[-1.0, 0, 0, 10], [0, -1, 0, 40], [0, 0, 1, -7], [0, 0, 0, 1]])
SAGITTAL_THICK = np.array([[0, 0, -2.0, 30], [-1.2, 0, 0, 5], [0, 1.2, 0, -3], [0, 0, 0, 1]])


@pytest.mark.parametrize("layout", ["brats2018", "brats2023"])
@pytest.mark.parametrize(
    ("affine", "shape", "least"),
    [
        pytest.param(LPS, (24, 28, 22), 1.0, id="LPS at the study's spacing"),
        pytest.param(SAGITTAL_THICK, (26, 24, 18), 0.8, id="anisotropic, axes swapped and flipped"),
    ],
)
def test_the_label_map_lies_on_the_inputs_grid_in_the_sites_convention(tmp_path, layout, affine, shape, least):
    case, truth = _write_case(tmp_path / "data", layout, affine, shape)
    site = BrainTumorSiteSettings(folder=tmp_path / "data", layout=layout, labels=layout)
    file = tmp_path / "out" / "prediction.nii.gz"
    volumes = predict_case(_Thresholds().eval(), case, file, SETTINGS, site)
    assert file.stat().st_mode & 0o077 == 0
    written = nib.load(file)
    assert written.shape == shape
    assert np.allclose(written.affine, affine)
    assert written.get_data_dtype() == np.uint8
    labels = np.asarray(written.dataobj)
    assert set(np.unique(labels)) == {0, *VALUES[layout]}
    for value in VALUES[layout]:
        ours, theirs = labels == value, truth == value
        assert 2 * (ours & theirs).sum() / (ours.sum() + theirs.sum()) >= least - 1e-9
    voxel_ml = abs(np.linalg.det(affine[:3, :3])) / 1000
    assert volumes["wt"] == pytest.approx((labels > 0).sum() * voxel_ml)
    assert volumes["tc"] == pytest.approx(np.isin(labels, [VALUES[layout][0], VALUES[layout][2]]).sum() * voxel_ml)


def test_sequences_are_found_by_the_sites_names(tmp_path):
    case, truth = _write_case(tmp_path / "data", "brats2023", LPS, (24, 28, 22))
    (case / "CASE-001-t1c.nii.gz").rename(case / "CASE-001-postgd.nii.gz")
    site = BrainTumorSiteSettings(
        folder=tmp_path / "data", layout="brats2023", labels="brats2023", aliases={"t1c": ("postgd",)}
    )
    predict_case(_Thresholds().eval(), case, tmp_path / "prediction.nii.gz", SETTINGS, site)
    assert np.array_equal(np.asarray(nib.load(tmp_path / "prediction.nii.gz").dataobj), truth)


def test_a_missing_sequence_is_refused_and_nothing_is_written(tmp_path):
    case, _ = _write_case(tmp_path / "data", "brats2023", LPS, (24, 28, 22))
    (case / "CASE-001-t1c.nii.gz").unlink()
    site = BrainTumorSiteSettings(folder=tmp_path / "data", layout="brats2023", labels="brats2023")
    with pytest.raises(WardroundError, match="t1c") as error:
        predict_case(_Thresholds().eval(), case, tmp_path / "prediction.nii.gz", SETTINGS, site)
    assert error.value.code is Reason.SEQUENCE_MISSING
    assert not (tmp_path / "prediction.nii.gz").exists()


def test_a_case_of_a_patient_who_opted_out_is_not_read(tmp_path):
    case, _ = _write_case(tmp_path / "data", "brats2023", LPS, (24, 28, 22))
    listed = tmp_path / "opted-out.txt"
    listed.write_text("CASE\n")
    site = BrainTumorSiteSettings(folder=tmp_path / "data", layout="brats2023", labels="brats2023", opt_out_file=listed)
    with pytest.raises(WardroundError, match="opted out") as error:
        predict_case(_Thresholds().eval(), case, tmp_path / "prediction.nii.gz", SETTINGS, site)
    assert error.value.code is Reason.OPTED_OUT
    assert not (tmp_path / "prediction.nii.gz").exists()


def test_a_prediction_does_not_go_among_the_inputs_or_come_from_nan(tmp_path):
    case, _ = _write_case(tmp_path / "data", "brats2023", LPS, (24, 28, 22))
    site = BrainTumorSiteSettings(folder=tmp_path / "data", layout="brats2023", labels="brats2023")
    with pytest.raises(WardroundError, match="elsewhere"):
        predict_case(_Thresholds().eval(), case, case / "CASE-001-seg.nii.gz", SETTINGS, site)
    for among in (case / "below" / "x.nii.gz", case.parent / "CASE-002" / "CASE-002-seg.nii.gz", case.parent / "x.nii"):
        with pytest.raises(WardroundError, match="elsewhere"):
            predict_case(_Thresholds().eval(), case, among, SETTINGS, site)
    link = tmp_path / "link.nii.gz"
    link.symlink_to(case / "CASE-001-t1c.nii.gz")
    with pytest.raises(WardroundError, match="elsewhere"):
        predict_case(_Thresholds().eval(), case, link, SETTINGS, site)
    network = _Thresholds().eval()
    network.sharpness.data.fill_(float("nan"))
    with pytest.raises(WardroundError) as error:
        predict_case(network, case, tmp_path / "prediction.nii.gz", SETTINGS, site)
    assert error.value.code is Reason.NOT_FINITE


@pytest.mark.parametrize("target", ["imagesTr/CASE.nii.gz", "labelsTr/CASE.nii.gz", "imagesTr/../imagesTr/CASE.nii.gz"])
def test_an_msd_prediction_overwrites_no_image_and_no_label(tmp_path, target):
    """Nothing is predicted first: the refusal costs no time."""
    names = {"0": "FLAIR", "1": "T1w", "2": "t1gd", "3": "T2w"}
    training = [{"image": "./imagesTr/CASE.nii.gz", "label": "./labelsTr/CASE.nii.gz"}]
    (tmp_path / "dataset.json").write_text(json.dumps({"modality": names, "training": training}))
    for folder in ("imagesTr", "labelsTr"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "CASE.nii.gz").write_bytes(b"a patient's")
    aliases = {"t2f": ("flair",), "t1n": ("t1w",), "t1c": ("t1gd",), "t2w": ("t2w",)}
    site = BrainTumorSiteSettings(folder=tmp_path, layout="msd", labels="msd", aliases=aliases)
    with pytest.raises(WardroundError, match="elsewhere"):
        predict_case(_Thresholds().eval(), tmp_path / "imagesTr/CASE.nii.gz", tmp_path / target, SETTINGS, site)
    assert (tmp_path / target).read_bytes() == b"a patient's"
