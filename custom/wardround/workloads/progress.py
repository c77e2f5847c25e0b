"""How far reading a site's data has come."""

from typing import Protocol


class Progress(Protocol):
    """Is called from time to time while data is read."""

    def __call__(self, what: str, done: int, total: int | None) -> None:
        """Takes note.

        Args:
            what: is being read, such as `rows` or `cases`.
            done: how many of them are.
            total: how many there will be; None where nobody knows yet.
        """


def unseen(what: str, done: int, total: int | None) -> None:
    """Nobody looks."""
