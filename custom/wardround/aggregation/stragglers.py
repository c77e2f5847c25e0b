"""Sites that answer much later than the others: slow, which is neither late nor gone."""

from collections.abc import Mapping
from statistics import median_low

TIMES_THE_MEDIAN = 3.0
AT_LEAST_SECONDS = 30.0
"""Behind the median; less than that costs nobody a wait."""


def stragglers(seconds: Mapping[str, float]) -> list[str]:
    """Sites with t_s > 3 median(t) and t_s > median(t) + 30 s, of three sites or more.

    Args:
        seconds: site to the time from the order to its answer.
    """
    if len(seconds) < 3:
        return []
    middle = median_low(seconds.values())
    bound = max(TIMES_THE_MEDIAN * middle, middle + AT_LEAST_SECONDS)
    return sorted(site for site, taken in seconds.items() if taken > bound)
