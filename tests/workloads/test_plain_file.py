import os
from pathlib import Path

import pytest

from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.brain_tumor.nifti_file import read_header, read_whole
from wardround.workloads.clinical_risk.settings import CsvSource, ParquetSource
from wardround.workloads.clinical_risk.sources import read_source
from wardround.workloads.opt_out import read_opt_out
from wardround.workloads.plain_file import refuse_no_file


def _all_readers(file: Path):
    yield lambda: refuse_no_file(file)
    yield lambda: read_header(file)
    yield lambda: read_whole(file)
    yield lambda: read_source(CsvSource(kind="csv", file=file), {"age"})
    yield lambda: read_source(ParquetSource(kind="parquet", file=file), {"age"})
    yield lambda: read_opt_out(file)


@pytest.mark.parametrize(("kind", "told"), [("folder", "a folder"), ("pipe", "pipe"), ("device", "device")])
def test_what_is_no_plain_file_is_told_as_what_it_is_and_never_read(tmp_path: Path, kind: str, told: str) -> None:
    place = tmp_path / "place" if kind != "device" else Path(os.devnull)
    if kind == "folder":
        place.mkdir()
    elif kind == "pipe":
        os.mkfifo(place)
    for read in _all_readers(place):
        with pytest.raises(WardroundError, match=told) as caught:
            read()
        assert caught.value.code is Reason.DATA_UNREADABLE


def test_what_is_not_there_is_missing(tmp_path: Path) -> None:
    refuse_no_file(Path(__file__))
    with pytest.raises(WardroundError, match="no such file") as caught:
        refuse_no_file(tmp_path / "absent")
    assert caught.value.code is Reason.DATA_MISSING
