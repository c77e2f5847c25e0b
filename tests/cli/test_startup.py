"""`--help` is quick because nothing heavy is loaded."""

import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from wardround.cli.start import start


def test_importing_the_command_line_loads_neither_torch_nor_monai_nor_flare() -> None:
    code = (
        "import sys, wardround.cli.main; "
        "print(sorted({'torch', 'monai', 'nvflare', 'nibabel', 'scipy', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONPATH": ":".join(sys.path)}
    )
    assert done.stdout.strip() == "[]"


def test_an_interrupt_while_the_command_line_is_loaded_ends_it_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Loading(ModuleType):
        def __getattr__(self, name: str) -> None:
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "wardround.cli.main", Loading("wardround.cli.main"))
    with pytest.raises(SystemExit) as ended:
        start()
    assert ended.value.code == 130


def test_the_command_is_the_one_that_heeds_an_interrupt_from_its_beginning() -> None:
    settings = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    assert settings["project"]["scripts"] == {"wardround": f"{start.__module__}:{start.__name__}"}
