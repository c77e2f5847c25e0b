"""What a site keeps between rounds: its own entries of the network, by round, and only of rounds that counted."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors.torch import load_file, save
from torch import Tensor

from wardround.records.files import private_folder, write_whole
from wardround.records.reasons import Reason, WardroundError

_OWNER = "owner.json"
_COMMITTED = re.compile(r"^kept-(\d{6})\.safetensors$")
_PENDING = re.compile(r"^kept-(\d{6})\.pending\.safetensors$")


class KeptEntries:
    """Kept entries by model round, in memory.

    Training in round r leaves entries for model round r + 1 that are *pending*: they belong to an update that the
    server may never take. `acknowledge` commits them, or discards them where it names another round.
    """

    def __init__(self) -> None:
        self._committed: dict[int, dict[str, Tensor]] = {}
        self._pending: dict[int, dict[str, Tensor]] = {}

    def put(self, model_round: int, entries: Mapping[str, Tensor]) -> None:
        """Sets the pending entries; earlier pending ones are discarded."""
        self._pending = {model_round: {name: tensor.detach().cpu().clone() for name, tensor in entries.items()}}

    def acknowledge(self, model_round: int | None) -> None:
        """Commits what is pending for `model_round` and forgets what is pending for any other.

        Committed entries of later rounds are dropped too: they come from a branch that a resumed run has left.
        """
        if model_round is not None and model_round in self._pending:
            self._committed = {k: v for k, v in self._committed.items() if k < model_round}
            self._committed[model_round] = self._pending[model_round]
        self._pending = {}

    def get(self, model_round: int) -> dict[str, Tensor] | None:
        """The newest committed entries of `model_round` or before, or None."""
        known = [k for k in self._committed if k <= model_round]
        return self._committed[max(known)] if known else None


class LocalState(KeptEntries):
    """Kept entries in a folder of the site, so that they outlive the process.

    Args:
        folder: made where it is missing.
        owner: what the entries belong to: run, site, study digest and algorithm. Another's folder is refused, since
            its entries would fit by shape and be wrong.

    Raises:
        WardroundError: the folder belongs to another run, site, study or algorithm.
    """

    def __init__(self, folder: Path, owner: Mapping[str, str]) -> None:
        super().__init__()
        self.folder = folder
        self._claim(dict(owner))

    def put(self, model_round: int, entries: Mapping[str, Tensor]) -> None:
        """Writes the pending entries; earlier pending ones are discarded."""
        self._forget_pending()
        content = save({name: tensor.detach().cpu().contiguous() for name, tensor in entries.items()})
        write_whole(self._pending_file(model_round), content, private=True)

    def acknowledge(self, model_round: int | None) -> None:
        """Commits by renaming, which cannot half happen; see `KeptEntries.acknowledge`."""
        if model_round is not None and self._pending_file(model_round).exists():
            for later in [k for k in self._rounds(_COMMITTED) if k > model_round]:
                self._committed_file(later).unlink(missing_ok=True)
            self._pending_file(model_round).replace(self._committed_file(model_round))
        self._forget_pending()

    def get(self, model_round: int) -> dict[str, Tensor] | None:
        """The newest committed entries of `model_round` or before, or None."""
        known = [k for k in self._rounds(_COMMITTED) if k <= model_round]
        return load_file(self._committed_file(max(known))) if known else None

    def _claim(self, owner: dict[str, str]) -> None:
        file = private_folder(self.folder) / _OWNER
        if not file.exists():
            write_whole(file, json.dumps(owner, indent=2, sort_keys=True).encode(), private=True)
            return
        found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        unlike = sorted(key for key in {*owner, *found} if owner.get(key) != found.get(key))
        if unlike:
            told = ", ".join(f"{key} {found.get(key)!r} instead of {owner.get(key)!r}" for key in unlike)
            raise WardroundError(
                Reason.CONFIGURATION_INVALID,
                f"{file}: the entries here belong to {told}; give the run a name of its own, or move the folder away",
            )

    def _forget_pending(self) -> None:
        for index in self._rounds(_PENDING):
            self._pending_file(index).unlink(missing_ok=True)

    def _rounds(self, pattern: re.Pattern[str]) -> list[int]:
        matches = (pattern.match(file.name) for file in self.folder.iterdir())
        return sorted(int(match.group(1)) for match in matches if match)

    def _committed_file(self, model_round: int) -> Path:
        return self.folder / f"kept-{model_round:06d}.safetensors"

    def _pending_file(self, model_round: int) -> Path:
        return self.folder / f"kept-{model_round:06d}.pending.safetensors"
