"""What a site answered, order by order: `<state_folder>/<run>/answers.jsonl`, for its own admin.

Only what was sent is in it: counts, metrics and reason codes, never a case.
"""

import json
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from pydantic import TypeAdapter

from wardround.records.files import private_file, private_folder
from wardround.records.json_text import plain
from wardround.records.orders import Order, Reply
from wardround.records.site_status import RunStatus, SiteAnswer

_FILE = "answers.jsonl"
_ANSWER = TypeAdapter(SiteAnswer)


def note_answer(state_folder: Path, job: str, task: str, order: Order, reply: Reply) -> None:
    """Adds one line.

    Raises:
        OSError: the state folder cannot be written.
    """
    answer = SiteAnswer(
        time=datetime.now(UTC).isoformat(timespec="seconds"),
        job=job,
        task=task,
        round=order.round,
        arm=order.arm if task == "validate" else "",
        error=reply.error or "",
        metrics={record.name: record.value for record in reply.records if record.value is not None},
    )
    folder = private_folder(state_folder / order.run)
    with private_file(folder / _FILE).open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(asdict(answer)) + "\n")


def read_runs(state_folder: Path) -> list[RunStatus]:
    """All runs that this site took part in, the newest first; what is no answer, such as a line cut short by a
    kill, is left out."""
    runs = []
    for file in state_folder.glob(f"*/{_FILE}"):
        answers = [answer for line in file.read_bytes().splitlines() if (answer := plain(line, _ANSWER))]
        if answers:
            runs.append(RunStatus(file.parent.name, answers))
    return sorted(runs, key=lambda run: (run.last.time, run.name), reverse=True)
