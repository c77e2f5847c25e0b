"""`--help` is quick because nothing heavy is loaded."""

import subprocess
import sys


def test_importing_the_command_line_loads_neither_torch_nor_monai_nor_flare() -> None:
    code = (
        "import sys, wardround.cli.main; "
        "print(sorted({'torch', 'monai', 'nvflare', 'nibabel', 'scipy', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONPATH": ":".join(sys.path)}
    )
    assert done.stdout.strip() == "[]"
