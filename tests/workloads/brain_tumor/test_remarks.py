from pathlib import Path

import numpy as np
import pytest

from support.made_cases import made_brain
from wardround.records.inspection import Severity
from wardround.records.reasons import Reason
from wardround.workloads.brain_tumor.geometry import Volume
from wardround.workloads.brain_tumor.labels import to_regions
from wardround.workloads.brain_tumor.remarks import LABEL, Remark, remarks_on


def _remarks(change=None, values=None):
    images, label = made_brain()
    data = {name: image.astype(np.float32) for name, image in images.items()}
    if change:
        data["t1c"] = change(data["t1c"])
    values = label if values is None else values(label, data["t1n"] != 0)
    volumes = {name: Volume(one, np.eye(4), Path(name)) for name, one in data.items()}
    return remarks_on(volumes, values, to_regions(values, "brats2023", "seg"))


def test_a_sound_case_has_none():
    assert _remarks() == ()


@pytest.mark.parametrize(
    ("change", "kind", "told"),
    [
        (lambda data: np.where(data > 150, -data, data), Reason.INTENSITY_NEGATIVE, "voxels are below 0"),
        (lambda data: (data != 0) * np.float32(7), Reason.INTENSITY_CONSTANT, "that are not 0 is 7"),
    ],
)
def test_doubtful_intensities_are_told_of_their_sequence(change, kind, told):
    (remark,) = _remarks(change)
    assert (remark.part, remark.finding.kind, remark.finding.severity) == ("t1c", kind, Severity.WARNING)
    assert told in remark.finding.found
    assert remark.finding.count == 0  # nothing is left out for it


def _outside(label, brain):
    moved = np.zeros_like(label)
    moved[:4, :4, :4] = [1, 2, 3, 2]
    assert not brain[:4, :4, :4].any()
    return moved


@pytest.mark.parametrize(
    ("values", "kind", "severity"),
    [
        (lambda label, _: label * 0, Reason.LABEL_EMPTY, Severity.WARNING),
        (lambda label, _: np.where(label == 3, 2, label), Reason.REGION_MISSING, Severity.NOTE),
        (lambda label, _: label * np.float32(0.9999), Reason.LABEL_ROUNDED, Severity.NOTE),
        (_outside, Reason.LABEL_OUTSIDE_BRAIN, Severity.WARNING),
    ],
)
def test_doubtful_labels_are_told(values, kind, severity):
    (remark,) = _remarks(values=values)
    assert (remark.part, remark.finding.kind, remark.finding.severity) == (LABEL, kind, severity)
    assert Remark.from_plain(remark.to_plain()) == remark
    assert remark.placed("P-1", "seg.nii.gz").where.text == "seg.nii.gz"
