"""Every image that a compose file or a page names by a version is of this one."""

import re

import pytest

from support.documentation import ROOT, page_names
from wardround import __version__

FILES = sorted([*page_names(), *(str(file.relative_to(ROOT)) for file in (ROOT / "docker").glob("*.yaml"))])
_IMAGE = re.compile(r"wardround/(?:parent|tabular|imaging):(\d[\w.]*)")


@pytest.mark.parametrize("name", FILES)
def test_images_are_of_this_version(name: str) -> None:
    assert set(_IMAGE.findall((ROOT / name).read_text(encoding="utf-8"))) <= {__version__}


def test_there_are_such_names_to_look_at() -> None:
    found = {name for name in FILES if _IMAGE.search((ROOT / name).read_text(encoding="utf-8"))}
    assert {"docker/compose.yaml", "docker/compose.process.yaml", "docs/containers.md"} <= found
