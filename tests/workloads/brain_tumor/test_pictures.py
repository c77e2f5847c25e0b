import matplotlib.image
import numpy as np
import pytest
import torch
from torch import nn

from support.made_cases import AGREED
from wardround.workloads.brain_tumor.pictures import TISSUES, draw_case
from wardround.workloads.brain_tumor.settings import BrainTumorSettings, ImageContract
from wardround.workloads.brain_tumor.synth.writer import CaseCounts, write_hospitals
from wardround.workloads.brain_tumor.workload import make

STUDY = {"network": {"channels": [4, 8], "strides": [2]}, "patch": {"size": [16, 16, 16]}}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    write_hospitals(folder, hospitals=1, size=24, cases=CaseCounts(0, 0, 3), seed=0)
    data = {"folder": folder / "hospital-a" / "data", "layout": "brats2023", "labels": "brats2023", "declares": AGREED}
    split = {"train": [], "validation": [], "test": [f"BraTS-SYN-{number:05d}" for number in (1, 2, 3)]}
    return make(STUDY).open_site({**data, "split": split}, cache=folder / "cache")


def _shown(file, color: tuple[float, float, float]) -> int:
    """Pixels near an overlay's color in the picture, its legend left out."""
    picture = matplotlib.image.imread(file)[..., :3]
    picture = picture[: int(0.85 * len(picture))]
    hue = np.array(color) - np.mean(color)
    own = picture - picture.mean(-1, keepdims=True)
    return int((np.abs(own - 0.6 * hue).max(-1) < 0.02).sum())


def test_a_sites_cases_are_drawn_into_the_folder_that_it_names(site, tmp_path):
    torch.manual_seed(0)
    network = make(STUDY).network().eval()
    files = site.draw(network, "test", tmp_path / "pictures", count=2)
    assert sorted(tmp_path.rglob("*.*")) == sorted(files)
    assert len(files) == 2
    assert files[0].suffix == ".png"
    assert [file.stat().st_mode & 0o077 for file in (files[0].parent, *files)] == [0, 0, 0]
    assert files[0].stat().st_size < 300_000


def test_label_and_prediction_are_overlaid_and_a_miss_shows(site, tmp_path):
    case = next(case for case in site.cases("test") if case.label[2].any())
    contract = BrainTumorSettings().contract
    draw_case(case, case.label, tmp_path / "right.png", contract)
    draw_case(case, np.zeros_like(case.label), tmp_path / "missed.png", contract)
    for color in TISSUES.values():
        assert _shown(tmp_path / "right.png", color) == pytest.approx(
            2 * _shown(tmp_path / "missed.png", color), rel=0.1
        )
    assert _shown(tmp_path / "missed.png", TISSUES["edema"]) > 50


def test_the_patients_right_is_on_the_left_in_either_orientation(site, tmp_path, monkeypatch):
    from wardround.workloads.brain_tumor import pictures

    volume = np.zeros((5, 6, 4), np.float32)
    volume[4, 5, 2] = 1  # RAS: right, front
    assert np.argwhere(pictures.axial(volume, 2, ImageContract(orientation="RAS"))).tolist() == [[0, 0]]
    volume = volume[::-1, ::-1]
    assert np.argwhere(pictures.axial(volume, 2, ImageContract(orientation="LPS"))).tolist() == [[0, 0]]


def test_no_global_plotting_state_is_touched(site, tmp_path):
    import sys

    case = site.cases("test")[0]
    draw_case(case, case.label, tmp_path / "a.png", ImageContract())
    draw_case(case, case.label, tmp_path / "b.png", ImageContract())
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    pyplot = sys.modules.get("matplotlib.pyplot")
    assert pyplot is None or not pyplot.get_fignums()


def test_a_case_without_a_label_is_not_drawn_as_one_of_the_split(site, tmp_path):
    assert site.draw(nn.Identity(), "validation", tmp_path / "pictures") == []
