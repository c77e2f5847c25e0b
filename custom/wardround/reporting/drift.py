"""What changed from round to round at each site: how its updates stood to the others', and what was flagged."""

from pydantic import BaseModel, ConfigDict

from wardround.reporting.model import RoundFacts, Summary


class SiteDrift(BaseModel):
    """One training site over all rounds that tell of it.

    Args:
        lowest_cosine, in_round: where its update agreed least with the mean of the others'.
        last_cosine: in the last round that has one.
        norm_ratios: smallest and largest norm of its update by the round's median.
        flags: code to the rounds that have it, from 1.
        of_last: codes of the last model, which no round began with.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    site: str
    lowest_cosine: float | None
    in_round: int | None
    last_cosine: float | None
    norm_ratios: tuple[float, float] | None
    flags: dict[str, list[int]]
    of_last: list[str]


def drift_by_site(summary: Summary) -> list[SiteDrift]:
    """Every training site; empty for a record from before updates were compared."""
    sites = [_site(name, summary.rounds, summary.last_flags.get(name, [])) for name in summary.training_sites()]
    told = any(site.flags or site.of_last or site.last_cosine is not None or site.norm_ratios for site in sites)
    return sites if told else []


def rounds_text(rounds: list[int]) -> str:
    """`round 3`, `rounds 3, 5 to 8`."""
    runs: list[list[int]] = []
    for number in sorted(rounds):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    told = [f"{run[0]}" if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs]
    return f"round{'s' if len(rounds) > 1 else ''} {', '.join(told)}"


def _site(name: str, rounds: list[RoundFacts], of_last: list[str]) -> SiteDrift:
    cosines = [(line.cosines[name], line.round) for line in rounds if name in line.cosines]
    ratios = [line.norm_ratios[name] for line in rounds if name in line.norm_ratios]
    flags: dict[str, list[int]] = {}
    for line in rounds:
        for flag in line.flags.get(name, ()):
            flags.setdefault(flag, []).append(line.round)
    lowest = min(cosines, default=(None, None))
    return SiteDrift(
        site=name,
        lowest_cosine=lowest[0],
        in_round=lowest[1],
        last_cosine=cosines[-1][0] if cosines else None,
        norm_ratios=(min(ratios), max(ratios)) if ratios else None,
        flags=flags,
        of_last=of_last,
    )
