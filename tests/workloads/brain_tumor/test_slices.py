"""Pictures of cases that were left out for what is wrong with them."""

import gzip

import nibabel as nib
import numpy as np
import pytest

from support.made_cases import SETTINGS, write_case
from wardround.records.faults import fault
from wardround.records.inspection import Finding, Severity
from wardround.records.reasons import Reason
from wardround.workloads.brain_tumor import slices
from wardround.workloads.brain_tumor.layouts import CaseFiles, read_case_files
from wardround.workloads.brain_tumor.settings import BrainTumorSiteSettings


@pytest.fixture
def left_out(tmp_path) -> CaseFiles:
    folder = write_case(tmp_path)
    site = BrainTumorSiteSettings(folder=tmp_path, layout="brats2023", labels="brats2023")
    return read_case_files(folder, site, SETTINGS.contract.sequences)


def _drawn(files: CaseFiles):
    told = Finding.of(Severity.WARNING, Reason.GEOMETRY_INVALID, fault("a fault", case=files.case))
    return slices.draw_examples({}, [files], [told], SETTINGS.contract, "brats2023")


def _say_sides(file, *sides: int) -> None:
    content = bytearray(gzip.decompress(file.read_bytes()))
    header = nib.Nifti1Header(bytes(content[:348]), check=False)
    header["dim"][: 1 + len(sides)] = (len(sides), *sides)
    content[:348] = header.binaryblock
    file.write_bytes(gzip.compress(bytes(content)))


@pytest.mark.parametrize("sides", [(32767, 32767, 32767), (1000, 1000, 100), (-32, 32, 32), (32, 32, 0)])
def test_a_header_that_promises_what_is_not_there_costs_no_memory_and_no_other_picture(left_out, monkeypatch, sides):
    lying = left_out.volumes["t1c"].file
    _say_sides(lying, *sides)
    read = []
    load = nib.load
    monkeypatch.setattr(slices.nib, "load", lambda file: read.append(file) or load(file))
    (picture,) = _drawn(left_out)
    assert picture.png.startswith(b"\x89PNG")
    assert lying not in read
    assert len(read) == 4  # the three other sequences and the label


def test_a_volume_too_large_for_a_picture_is_not_read(left_out, monkeypatch):
    monkeypatch.setattr(slices, "_MOST_VOXELS", 100)
    monkeypatch.setattr(slices.nib, "load", lambda _: pytest.fail("read"))
    assert len(_drawn(left_out)) == 1


@pytest.mark.parametrize("error", [MemoryError(), ValueError("no"), np.linalg.LinAlgError("singular")])
def test_what_cannot_be_drawn_at_all_costs_no_other_picture(left_out, monkeypatch, error):
    def refuse(*_, **__):
        raise error

    monkeypatch.setattr(slices, "oriented", refuse)
    assert len(_drawn(left_out)) == 1
