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


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("wardround.flare.health", ["torch", "nvflare", "monai", "numpy"]),  # asked every few seconds
        ("wardround.flare.parent", ["torch", "nvflare", "monai"]),
        ("wardround.flare.kit_guard", ["torch", "monai", "scipy", "matplotlib", "safetensors"]),
        ("wardround.flare.kit", ["torch", "monai", "scipy", "matplotlib", "safetensors"]),
        ("wardround.cli.main", ["torch", "nvflare", "monai", "scipy", "matplotlib", "safetensors"]),
    ],
)
def test_what_a_parents_image_runs_loads_nothing_that_it_lacks(module: str, heavy: list[str]) -> None:
    script = f"import {module}, sys; print(','.join(name for name in {heavy!r} if name in sys.modules))"
    probe = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert probe.stdout.strip() == ""
