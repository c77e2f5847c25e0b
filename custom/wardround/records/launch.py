"""launch.json beside a run's results: how it was started, and where it works, so that another command can go on."""

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from wardround.records.changed import changed
from wardround.records.files import write_whole
from wardround.records.reasons import Reason, WardroundError
from wardround.records.run_lines import Environment
from wardround.records.schema_faults import validated
from wardround.records.yaml_text import read_settings

FILE_NAME = "launch.json"


class Launch(BaseModel):
    """One start of a run.

    Args:
        study: the study's name.
        run: names the run at the sites.
        sites: the site.yaml files of the sites on this machine.
        kit: the admin's startup kit, in production.
        process, process_started: the command that runs it, while it does: its id, and when it began, since ids recur.
        mark: of FLARE's processes that it started.
        workspace: the short-lived folder in which FLARE works.
        run_folder: FLARE's folder of the run at the server, where the server is on this machine.
        job: FLARE's id of the job.
        out: the results' folder that it was started with; in a copy of that folder, not the one that this lies in.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    environment: Environment
    study: str
    run: str
    sites: list[Path] = Field(default_factory=list)
    kit: Path | None = None
    process: int | None = None
    process_started: float | None = None
    mark: str | None = None
    workspace: Path | None = None
    run_folder: Path | None = None
    job: str | None = None
    out: Path | None = None

    def original(self, folder: Path) -> Path | None:
        """Where `folder` is a copy of the results' folder and that is still there: that folder."""
        out = self.out
        return out if out is not None and out.is_dir() and not out.samefile(folder) else None


def write_launch(out: Path, launch: Launch) -> None:
    """Writes it, whole."""
    write_whole(out / FILE_NAME, launch.model_dump_json(indent=2).encode() + b"\n")


def note_launch(out: Path, **changes: Any) -> None:
    """Changes some of it, where there is one."""
    launch = read_launch(out)
    if launch is not None:
        write_launch(out, changed(launch, **changes))


def read_launch(out: Path) -> Launch | None:
    """Of a results' folder; None where `wardround run` did not write it.

    Raises:
        WardroundError: it is not as it was written.
    """
    file = out / FILE_NAME
    if not file.is_file():
        return None
    try:
        return validated(Launch, read_settings(file, expected="a launch.json"), str(file))
    except WardroundError as error:
        raise WardroundError(
            Reason.DATA_UNREADABLE,
            *error.faults,
            f"{file}: expected what `wardround run` wrote; copy the run's folder again. Without this file a run in "
            "production goes on with --kit; any other is started anew",
        ) from error
