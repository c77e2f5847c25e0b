"""Who has answered the order that a server waits for: a sign of life where a round takes minutes."""

from pydantic import BaseModel, ConfigDict


class TaskAnswers(BaseModel):
    """One order and its answers so far.

    Args:
        task: what was asked for: prepare, train or validate.
        round: from 0.
        asked: the sites that were asked.
        answered: those that have been heard from, whatever they said.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    task: str
    round: int
    asked: tuple[str, ...]
    answered: tuple[str, ...] = ()

    @property
    def awaited(self) -> list[str]:
        """The sites that have not been heard from."""
        return [site for site in self.asked if site not in self.answered]
