"""Sites at which the study's key metric has no value: why, and what has one there."""

from collections.abc import Mapping, Sequence

from wardround.records.metric_record import MetricRecord, find

_ADVISED = 4


class UndefinedKey:
    """Remembers which sites' data leave the key metric undefined, over the rounds of a run."""

    def __init__(self, key_metric: str) -> None:
        self._key = key_metric
        self._sites: dict[str, str] = {}
        self._defined: dict[str, list[str]] = {}

    def look(self, site: str, records: Sequence[MetricRecord]) -> None:
        """Takes a site's validation records."""
        record = find(list(records), self._key)
        if record is not None and record.value is None:
            self._sites[site] = str(record.reason)
            self._defined[site] = [other.name for other in records if other.value is not None]

    @property
    def reasons(self) -> dict[str, str]:
        """Site to why the key metric has no value there."""
        return dict(self._sites)

    @property
    def defined_there(self) -> dict[str, list[str]]:
        """Such a site to the metrics that have a value there."""
        return {site: list(names) for site, names in self._defined.items()}

    def restore(self, reasons: Mapping[str, str], defined_there: Mapping[str, list[str]]) -> None:
        """Remembers what was known before."""
        self._sites, self._defined = dict(reasons), dict(defined_there)

    def explanation(self) -> str:
        """What to add where no round could be chosen: the sites with their reasons, and metrics defined at all of them.

        Empty where the key metric was defined wherever it was reported.
        """
        if not self._sites:
            return ""
        where = ", ".join(f"{site}: {reason}" for site, reason in sorted(self._sites.items()))
        first, *others = (names for _, names in sorted(self._defined.items()))
        usable = [name for name in first if all(name in names for names in others)]
        advice = f"; choose an evaluation.key_metric that is defined there, such as {', '.join(usable[:_ADVISED])}"
        return f"; {self._key} is undefined at {where}" + (advice if usable else "")
