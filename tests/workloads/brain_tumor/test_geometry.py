import gzip
import struct

import nibabel as nib
import numpy as np
import pytest

from support.made_cases import write
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.brain_tumor.geometry import Volume, oriented, read_volume, refuse_other_grid, unoriented

DATA = np.arange(4 * 5 * 6, dtype=np.int16).reshape(4, 5, 6)


def _refusal(file, **arguments):
    with pytest.raises(WardroundError) as raised:
        read_volume(file, **arguments)
    assert str(file) in str(raised.value)
    return raised.value


def test_a_volume_keeps_values_affine_and_spacing(tmp_path):
    affine = np.diag([1, 2, 3, 1.0])
    volume = read_volume(write(tmp_path / "a.nii", DATA, affine))
    np.testing.assert_array_equal(volume.data, DATA)
    np.testing.assert_allclose(volume.affine, affine)
    assert volume.spacing == (1, 2, 3)


def test_a_trailing_axis_of_one_is_squeezed(tmp_path):
    volume = read_volume(write(tmp_path / "a.nii.gz", DATA[..., None]))
    np.testing.assert_array_equal(volume.data, DATA)


@pytest.mark.parametrize(
    ("shape", "channels"), [((4, 5, 6, 2), None), ((4, 5), None), ((4, 5, 6, 3), 4), ((4, 5, 6), 4)]
)
def test_another_number_of_dimensions_or_channels_is_refused(tmp_path, shape, channels):
    file = write(tmp_path / "a.nii.gz", np.ones(shape, np.int16))
    arguments = {} if channels is None else {"channel": 0, "channels": channels}
    assert _refusal(file, **arguments).code is Reason.GEOMETRY_INVALID


def test_one_slice_is_refused(tmp_path):
    refusal = _refusal(write(tmp_path / "a.nii.gz", DATA[:, :, :1]))
    assert refusal.code is Reason.GEOMETRY_INVALID
    assert "single slice" in str(refusal)


def test_values_that_are_not_finite_are_refused_with_their_count(tmp_path):
    data = DATA.astype(np.float32)
    data[0, 0, :2] = np.nan, np.inf
    refusal = _refusal(write(tmp_path / "a.nii.gz", data))
    assert refusal.code is Reason.NOT_FINITE
    assert "2 voxels" in str(refusal)


def test_colour_images_are_refused(tmp_path):
    rgb = np.zeros((4, 5, 6), [("R", "u1"), ("G", "u1"), ("B", "u1")])
    assert _refusal(write(tmp_path / "a.nii.gz", rgb)).code is Reason.DATA_UNREADABLE


def test_zero_spacing_is_refused_though_nibabel_reads_it_as_one(tmp_path):
    file = write(tmp_path / "a.nii", DATA)
    content = bytearray(file.read_bytes())
    content[80:84] = struct.pack("<f", 0.0)  # pixdim[1]
    file.write_bytes(bytes(content))
    refusal = _refusal(file)
    assert refusal.code is Reason.GEOMETRY_INVALID
    assert "spacing" in str(refusal)


def test_an_affine_without_an_inverse_is_refused(tmp_path):
    file = write(tmp_path / "a.nii", DATA)
    content = bytearray(file.read_bytes())
    content[280:296] = struct.pack("<4f", 0, 0, 0, 0)  # srow_x
    file.write_bytes(bytes(content))
    assert "no inverse" in str(_refusal(file))


def _with_both_forms(file, sform, qform):
    image = nib.Nifti1Image(DATA, sform)
    image.set_sform(sform, code=1)
    image.set_qform(qform, code=1)
    nib.save(image, file)
    return file


def test_sform_and_qform_that_differ_are_refused_by_name(tmp_path):
    other = np.diag([-1, 1, 1, 1.0])
    refusal = _refusal(_with_both_forms(tmp_path / "a.nii.gz", np.eye(4), other))
    assert refusal.code is Reason.GEOMETRY_INVALID
    assert "sform and qform differ" in str(refusal)
    read_volume(_with_both_forms(tmp_path / "b.nii.gz", np.eye(4), np.eye(4) + 1e-6))


def test_an_image_without_sform_and_qform_is_refused(tmp_path):
    image = nib.Nifti1Image(DATA, None)
    nib.save(image, tmp_path / "a.nii.gz")
    assert "neither sform nor qform" in str(_refusal(tmp_path / "a.nii.gz"))


@pytest.mark.parametrize("kind", ["truncated", "truncated_plain", "empty", "text", "cut_header"])
def test_files_that_are_not_nifti_are_named(tmp_path, kind):
    noise = np.random.default_rng(0).integers(0, 999, (16, 16, 16), dtype=np.int16)
    suffix = "nii" if kind == "truncated_plain" else "nii.gz"
    file = write(tmp_path / f"a.{suffix}", noise)
    content = file.read_bytes()
    changed = {
        "truncated": content[: len(content) // 2],
        "truncated_plain": content[: len(content) // 2],
        "empty": b"",
        "text": b"case,age\n1,60\n" * 50,
        "cut_header": gzip.compress(b"\0" * 100),
    }
    file.write_bytes(changed[kind])
    assert _refusal(file).code is Reason.DATA_UNREADABLE


def test_a_damaged_gzip_stream_is_named(tmp_path):
    noise = np.random.default_rng(0).integers(0, 999, (16, 16, 16), dtype=np.int16)
    file = write(tmp_path / "a.nii.gz", noise)
    content = bytearray(file.read_bytes())
    content[len(content) // 2 : len(content) // 2 + 200] = b"\xff" * 200
    file.write_bytes(bytes(content))
    assert _refusal(file).code is Reason.DATA_UNREADABLE


def test_lps_and_ras_files_of_one_brain_become_equal():
    ras = Volume(DATA, np.diag([1, 2, 3, 1.0]), None)
    lps_affine = np.array([[-1, 0, 0, 3], [0, -2, 0, 8], [0, 0, 3, 0], [0, 0, 0, 1.0]])
    lps = Volume(DATA[::-1, ::-1], lps_affine, None)
    turned = oriented(lps, "RAS")
    np.testing.assert_array_equal(turned.data, ras.data)
    np.testing.assert_allclose(turned.affine, ras.affine)
    np.testing.assert_array_equal(unoriented(turned.data, lps.affine, "RAS"), lps.data)


def test_axes_in_another_order_come_back_as_they_were():
    permuted = np.array([[0, 0, 1, 0], [-1, 0, 0, 0], [0, 2, 0, 0], [0, 0, 0, 1.0]])
    volume = Volume(DATA, permuted, None)
    turned = oriented(volume, "RAS")
    assert turned.data.shape == (6, 4, 5)
    assert nib.aff2axcodes(turned.affine) == ("R", "A", "S")
    np.testing.assert_array_equal(unoriented(turned.data, permuted, "RAS"), DATA)


def test_grids_agree_within_the_tolerance_only(tmp_path):
    image = read_volume(write(tmp_path / "image.nii.gz", DATA))
    refuse_other_grid(read_volume(write(tmp_path / "near.nii.gz", DATA, np.eye(4) + 1e-6)), image)
    shifted = np.eye(4)
    shifted[0, 3] = 0.1
    for affine in (shifted, np.diag([1.1, 1, 1, 1])):
        other = read_volume(write(tmp_path / "seg.nii.gz", DATA, affine))
        with pytest.raises(
            WardroundError, match=r"seg\.nii\.gz: its grid lies up to .* mm off that of image"
        ) as raised:
            refuse_other_grid(other, image)
        assert raised.value.code is Reason.GEOMETRY_INVALID
    with pytest.raises(WardroundError, match="4 x 5 x 5 voxels"):
        refuse_other_grid(read_volume(write(tmp_path / "seg.nii.gz", DATA[:, :, :5])), image)


@pytest.mark.parametrize("suffix", [".nii", ".nii.gz"])
def test_a_header_that_promises_more_voxels_than_the_file_holds_is_refused(tmp_path, suffix):
    content = bytearray(write(tmp_path / "whole.nii", DATA).read_bytes())
    content[40:56] = struct.pack("<8h", 3, 32000, 32000, 32000, 1, 1, 1, 1)  # dim
    file = tmp_path / f"a{suffix}"
    file.write_bytes(gzip.compress(bytes(content)) if suffix.endswith("gz") else bytes(content))
    refusal = _refusal(file)
    assert refusal.code is Reason.DATA_UNREADABLE
    assert "32000 x 32000 x 32000 voxels" in str(refusal)


def test_a_field_of_view_that_no_head_has_is_refused(tmp_path):
    refusal = _refusal(write(tmp_path / "a.nii.gz", DATA, np.diag([60, 60, 200, 1.0])))
    assert refusal.code is Reason.GEOMETRY_INVALID
    assert "240 x 300 x 1200 mm" in str(refusal)
    read_volume(write(tmp_path / "b.nii.gz", DATA, np.diag([100, 100, 100, 1.0])))  # 600 mm
