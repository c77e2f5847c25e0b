"""What each workload brings for a new site: a question, an image, and the folder that its containers see."""

import pytest

from wardround.site.new_config import questions, site_section


def test_each_workload_is_asked_for_in_its_own_words() -> None:
    assert questions() == {
        "brain_tumor": "Folder with brain-tumor images",
        "clinical_risk": "Table of stays (csv, parquet)",
    }


@pytest.mark.parametrize(
    ("kind", "data", "folder"),
    [
        ("brain_tumor", "/srv/images.v2", "/srv/images.v2"),  # a point in a folder's name makes it no file
        ("clinical_risk", "/srv/tables/stays.csv", "/srv/tables"),
        ("clinical_risk", "/srv/tables/stays", "/srv/tables"),
    ],
)
def test_a_container_sees_the_data_and_no_folder_above(kind: str, data: str, folder: str) -> None:
    assert site_section(kind).folder_of(data) == folder
