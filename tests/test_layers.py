"""What each layer really loads: an import by name would slip past a linter that reads source."""

import subprocess
import sys

import pytest

PROBE = """
import importlib, pkgutil, sys
import wardround.{layer} as package
for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
    importlib.import_module(module.name)
print(",".join(name for name in {heavy!r} if name in sys.modules))
"""


@pytest.mark.parametrize(
    ("layer", "heavy"),
    [
        ("records", ["torch", "nvflare", "monai"]),
        ("reporting", ["torch", "nvflare", "monai"]),
        ("aggregation", ["nvflare", "monai"]),
        ("metrics", ["nvflare"]),
        ("learners", ["nvflare", "monai"]),
        ("workloads", ["nvflare"]),
        ("site", ["nvflare"]),
    ],
)
def test_a_layer_loads_no_package_that_it_must_run_without(layer: str, heavy: list[str]) -> None:
    probe = subprocess.run(
        [sys.executable, "-c", PROBE.format(layer=layer, heavy=heavy)], capture_output=True, text=True, check=True
    )
    assert probe.stdout.strip() == ""
