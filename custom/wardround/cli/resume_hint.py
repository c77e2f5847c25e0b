"""How a run that did not end can go on, in the words of a command."""

import shlex
from pathlib import Path

from wardround.records.launch import read_launch
from wardround.records.reasons import WardroundError
from wardround.records.server_state import FOLDER, read_state, rounds_kept, state_file


def resume_hint(out: Path, *, baselines: bool = False) -> str | None:
    """`wardround resume FOLDER goes on from round 4 of 6`; None where there is nothing to go on from."""
    try:
        launch = read_launch(out)
        kept = rounds_kept(out / FOLDER)
        state = read_state(state_file(out / FOLDER, kept[-1])) if kept else None
    except WardroundError:
        return None
    production = launch is not None and launch.environment == "prod"
    command = ["wardround", "resume", shlex.quote(str(out)), *(["--baselines"] if baselines else [])]
    command += ["--kit", shlex.quote(str(launch.kit))] if production and launch and launch.kit else []
    if state is not None:
        rounds = state.settled_study().training.rounds
        more = state.rounds_done < rounds
        return f"{' '.join(command)} goes on " + (
            f"from round {state.rounds_done + 1} of {rounds}" if more else "with the scoring; all rounds are done"
        )
    if production and launch and launch.job:
        return (
            f"{' '.join(command)} goes on where the server hands out the job's result; where the server has died, "
            f"with --checkpoint FOLDER, a copy of {launch.job}/{FOLDER} in the server's folder"
        )
    return None
