import gzip
from contextlib import suppress

import nibabel as nib
import numpy as np
import pytest

from support.made_cases import write
from wardround.records.reasons import WardroundError
from wardround.workloads.brain_tumor.nifti_file import read_header, read_whole
from wardround.workloads.brain_tumor.place import place_of


@pytest.mark.parametrize(
    ("field", "value"),
    [("vox_offset", np.nan), ("vox_offset", 353), ("quatern_b", 3e38), ("srow_x", 3e38), ("pixdim", np.inf)],
)
@pytest.mark.filterwarnings("error")
def test_what_nibabel_doubts_is_not_printed_without_the_files_name(tmp_path, capfd, field, value):
    file = write(tmp_path / "t1c.nii.gz", np.zeros((4, 4, 4), np.int16))
    content = bytearray(gzip.decompress(file.read_bytes()))
    header = nib.Nifti1Header(bytes(content[:348]), check=False)
    header[field] = value
    header["qform_code"] = 1
    content[:348] = header.binaryblock
    file.write_bytes(gzip.compress(bytes(content)))
    for read in (lambda: place_of(read_header(file)), lambda: read_whole(file)):
        with suppress(WardroundError):
            read()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(("sides", "told"), [((32, 32, 0), "32 x 32 x 0"), ((-32, 32, 32), "-32 x 32 x 32")])
def test_a_side_of_no_voxels_is_told_as_that(tmp_path, sides, told):
    file = write(tmp_path / "t1c.nii.gz", np.zeros((32, 32, 32), np.int16))
    content = bytearray(gzip.decompress(file.read_bytes()))
    header = nib.Nifti1Header(bytes(content[:348]), check=False)
    header["dim"][1:4] = sides
    content[:348] = header.binaryblock
    file.write_bytes(gzip.compress(bytes(content)))
    with pytest.raises(WardroundError, match=f"found {told} voxels, expected one voxel at least along each axis"):
        place_of(read_header(file))
