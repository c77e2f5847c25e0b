"""What a new job is given, so that it goes on with an earlier job's run."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from wardround.records.server_state import ServerState, state_file


@dataclass(frozen=True)
class Continuation:
    """A run as a checkpoint has it, and how it is to go on.

    Args:
        folder: holds the checkpoint's files.
        state: of the checkpoint to use.
        lines: of the record that are in it.
        left_out: sites to go on without.
        because: how the run had ended before.
    """

    folder: Path
    state: ServerState
    lines: int
    left_out: tuple[str, ...] = ()
    because: str = ""

    @property
    def sites(self) -> list[str]:
        """The run's sites without those that are left out."""
        names = {manifest.site for manifest in self.state.manifests} | set(self.state.missing)
        return sorted(names - set(self.left_out))

    def copy_to(self, folder: Path) -> None:
        """Puts this checkpoint's files, and no other's, into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        for file in (*(file.name for file in self.state.files), state_file(self.folder, self.state.rounds_done).name):
            shutil.copyfile(self.folder / file, folder / file)
