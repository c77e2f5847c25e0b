"""What passed the disclosure gate, and what did not."""

from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Guarded(Generic[T]):
    """One part of a reply.

    Args:
        passed: may leave, with what is suppressed marked as such.
        suppressed: names of what has no place for a mark in `passed`.
        unlisted: texts that are none of the study's words; they stay.
    """

    passed: T
    suppressed: list[str] = field(default_factory=list)
    unlisted: list[str] = field(default_factory=list)
