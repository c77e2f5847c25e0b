"""The only texts that a site's answer can hold: what does not fit these types is no answer at all."""

from typing import Annotated

from pydantic import Field

# names of metrics, sums, counts and reasons: too narrow for a path, a date or a sentence
Code = Annotated[str, Field(pattern=r"^[a-z0-9_]{1,60}$")]

# names of a network's entries, such as model.0.conv.unit0.adn.N.weight
EntryName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.]{1,200}$")]

# SHA-256 in hexadecimal, or a shorter mark
Digest = Annotated[str, Field(pattern=r"^[a-z0-9]{1,64}$")]

# of a package, such as 2.9.0+cu128
Version = Annotated[str, Field(pattern=r"^[A-Za-z0-9.+!_-]{1,60}$")]

# of a release, such as v1: the name of its folder too
RELEASE_VERSION = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$"

Count = Annotated[int, Field(ge=0)]

# a count that is told as least and most; None where nothing says how many at most
Band = tuple[Count, Count | None]
