"""What a site's two processes say to each other: plain data as JSON, tensors as safetensors.

So nothing that comes from the server is unpickled at a site.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict
from safetensors.torch import load, save
from torch import Tensor

from wardround.records.orders import Order, Reply
from wardround.records.study import Study
from wardround.site.config import SiteConfig

Tensors = dict[str, Tensor]


@dataclass(frozen=True)
class Opening:
    """What a worker is told first: both processes' own objects, checked already.

    Args:
        study, config: what to open.
        threads: for torch.
        log_folder: where site.log is, if it can be anywhere.
    """

    study: Study
    config: SiteConfig
    threads: int
    log_folder: Path | None


class _Message(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Request(_Message):
    """To the worker.

    Args:
        kind: `do` a task, or `pause` the one that is done, where it can be paused.
        task, order: for `do`; the tensors follow.
    """

    kind: Literal["do", "pause"]
    task: str = ""
    order: Order | None = None


class Answer(_Message):
    """From the worker, one for each task.

    Args:
        kind: `done` with a reply; `failed` with a reply that has the code alone, the words being in the site's log;
            `paused`.
        reply: what the site answers; tensors follow.
        sound: False where the worker should not be asked again: what failed may have left anything behind.
    """

    kind: Literal["done", "failed", "paused"]
    reply: Reply = Reply()
    sound: bool = True


def send(connection: Connection, message: Request | Answer, tensors: Mapping[str, Tensor] | None = None) -> None:
    """Sends a message and tensors, which the other side gets as copies on the CPU.

    Raises:
        OSError: the other process is gone.
    """
    connection.send_bytes(message.model_dump_json().encode())
    connection.send_bytes(b"" if tensors is None else save({n: t.detach().contiguous() for n, t in tensors.items()}))


def receive_request(connection: Connection) -> tuple[Request, Tensors | None]:
    """Waits for one.

    Raises:
        EOFError, OSError: the other process is gone.
    """
    return Request.model_validate_json(connection.recv_bytes()), _tensors(connection)


def receive_answer(connection: Connection) -> tuple[Answer, Tensors | None]:
    """See `receive_request`."""
    return Answer.model_validate_json(connection.recv_bytes()), _tensors(connection)


def _tensors(connection: Connection) -> Tensors | None:
    content = connection.recv_bytes()
    return load(content) if content else None
