"""One record name as a reader meets it: title, column head, digits and place."""

from dataclasses import dataclass

from wardround.workloads.vocabulary import Family

MINUS = "\N{MINUS SIGN}"  # as wide as a plus, so that columns line up
DASH = "\N{EN DASH}"  # stands where there is no figure


@dataclass(frozen=True)
class Measure:
    """One record name: its family and the part that it is about, if any."""

    name: str
    family: Family
    part: str

    @property
    def title(self) -> str:
        """Long form: `Dice, whole tumor`."""
        part = next((part.title for part in self.family.parts if part.key == self.part), self.part.replace("_", " "))
        return f"{self.family.title}, {part}" if part else self.family.title

    @property
    def short(self) -> str:
        """Column head: `WT`, or the family's title where there are no parts."""
        part = next((part.short for part in self.family.parts if part.key == self.part), self.part.replace("_", " "))
        return part or self.family.title

    @property
    def position(self) -> int:
        """Where it stands among the figures of its family."""
        keys = [part.key for part in self.family.parts]
        return keys.index(self.part) if self.part in keys else len(keys)

    def text(self, value: float) -> str:
        """The value in the family's digits."""
        return f"{value:.{self.family.digits}f}".replace("-", MINUS)

    def signed(self, value: float) -> str:
        """A difference with its sign."""
        return f"{value:+.{self.family.digits}f}".replace("-", MINUS)


def measure_of(name: str, families: dict[str, Family]) -> Measure:
    """The family of a record name, and the part that the rest of the name stands for.

    An exact name wins over a beginning, and a longer beginning over a shorter one, so that `brier_skill` is not a part
    of `brier`. A name of no known family is its own family, where higher is taken as better.
    """
    if name in families:
        return Measure(name, families[name], "")
    key = max((key for key in families if name.startswith(f"{key}_")), key=len, default=None)
    if key is None:
        return Measure(name, Family(name, name.replace("_", " "), True), "")
    return Measure(name, families[key], name[len(key) + 1 :])
