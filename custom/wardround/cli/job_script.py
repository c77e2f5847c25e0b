"""What a study's job.py does: `wardround run` with its own study."""

from collections.abc import Sequence
from pathlib import Path

from typer.core import TyperGroup
from typer.main import get_command

from wardround.cli.main import app

_EXPORT = "With --export --export-dir DIR, it writes the FLARE job there instead; of the options, --set works with it."


def run_job(study: Path, arguments: Sequence[str], *, script: str) -> None:
    """Runs the study; `--help` shows the script's own usage, which names no study.

    Args:
        study: the folder of the script.
        arguments: as given to it.
        script: its name.
    """
    if "--help" not in arguments:
        app(["run", str(study), *arguments])
        return
    group = get_command(app)
    assert isinstance(group, TyperGroup)
    command = group.commands["run"]
    command.params = [parameter for parameter in command.params if parameter.name != "study"]
    command.epilog = _EXPORT
    command.main(["--help"], prog_name=script)
