"""Several things that are wrong with one case, told together."""

from types import TracebackType
from typing import Self

from wardround.records.changed import changed
from wardround.records.faults import Fault
from wardround.records.inspection import Finding, Severity
from wardround.records.reasons import WardroundError


class Gathered:
    """Keeps the errors of each `with` block, so that the next look is taken too."""

    def __init__(self) -> None:
        self._errors: list[WardroundError] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        if not isinstance(error, WardroundError):
            return False
        self._errors.append(error)
        return True

    def refuse(self) -> None:
        """Ends here with whatever was kept: one case is left out, however much is wrong with it.

        Raises:
            WardroundError: with the first error's code; of several, each keeps its own as a `Finding`.
        """
        if not self._errors:
            return
        first, *others = self._errors
        if not others:
            raise first
        told = [_finding(error, one) for error in self._errors for one in error.faults]
        raise WardroundError(first.code, told[0], *(changed(one, count=0) for one in told[1:]))


def _finding(error: WardroundError, one: Fault) -> Finding:
    return one if isinstance(one, Finding) else Finding.of(Severity.WARNING, error.code, one)
