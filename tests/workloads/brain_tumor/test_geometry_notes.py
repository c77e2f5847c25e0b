from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from wardround.records.inspection import Severity
from wardround.records.reasons import Reason
from wardround.workloads.brain_tumor.geometry_notes import geometry_findings
from wardround.workloads.brain_tumor.place import Place
from wardround.workloads.brain_tumor.settings import ImageContract


def _findings(*places, **contract):
    made = {
        f"P-{number}": Place(shape, np.asarray(affine, float), Path(f"P-{number}.nii.gz"))
        for number, (shape, affine) in enumerate(places)
    }
    return geometry_findings(made, ImageContract(**contract))


CUBE = (20, 20, 20)


def test_images_as_the_contract_asks_for_need_no_word():
    assert _findings((CUBE, np.eye(4)), (CUBE, np.eye(4))) == []


def test_turning_resampling_and_sizes_are_noted_once_for_all():
    lps = np.diag([-1, -1, 1, 1.0])
    thick = np.diag([1, 1, 3, 1.0])
    notes = _findings((CUBE, lps), (CUBE, lps), (CUBE, thick), ((20, 20, 7), np.eye(4)))
    assert {(one.severity, one.kind) for one in notes} == {(Severity.NOTE, Reason.GEOMETRY_CHANGED)}
    turned, resampled, sizes = notes
    assert turned.found == "2 of 4 cases are stored in another orientation: 2 LPS"
    assert resampled.found == "1 of 4 cases have another voxel size, in mm: 1 1 x 1 x 3"
    assert "2 sizes: 3 20 x 20 x 20, 1 20 x 20 x 7" in sizes.found


def test_spacing_is_compared_along_the_axes_of_the_contract():
    stored = np.zeros((4, 4))
    stored[2, 0] = 3  # the first stored axis goes up, in steps of 3 mm
    stored[0, 1] = stored[1, 2] = stored[3, 3] = 1
    notes = _findings((CUBE, stored), spacing_mm=(1, 1, 3))
    assert [one.found for one in notes] == ["1 of 1 cases are stored in another orientation: 1 SRA"]


def test_shear_and_turned_axes_are_doubted_by_case():
    sheared = np.eye(4)
    sheared[0, 1] = 0.1
    turned = np.eye(4)
    turned[:3, :3] = Rotation.from_euler("z", 12, degrees=True).as_matrix()
    first, second = [one for one in _findings((CUBE, sheared), (CUBE, turned)) if one.severity is Severity.WARNING]
    assert (first.where.case, first.where.file, first.kind) == ("P-0", "P-0.nii.gz", Reason.GEOMETRY_DOUBTFUL)
    assert "not at right angles" in first.found
    assert "turned by 12.0 degrees" in second.found
    assert [first.count, second.count] == [0, 0]
    native = _findings((CUBE, turned), registration_space="native")
    assert not [one for one in native if one.severity is Severity.WARNING]
