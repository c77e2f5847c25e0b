"""How a released model does at a site, in words and as one page for the site's own admin."""

from wardround.metrics.stability import LARGE, MODERATE
from wardround.records.monitoring import Monitoring
from wardround.reporting.acceptance import criterion_text, site_text
from wardround.reporting.page_template import environment
from wardround.reporting.words import Words


def render_monitoring(found: Monitoring, words: Words) -> str:
    """The page as text."""
    return (
        environment()
        .get_template("monitoring.html.j2")
        .render(
            found=found,
            criteria=criterion_lines(found, words),
            verdict=verdict(found),
            figures=[(words.measure(record.name), record, words.interval_text(record)) for record in found.figures],
            inputs=sorted(found.inputs, key=lambda one: -one.index),
            moderate=MODERATE,
            large=LARGE,
            in_words=words.in_words,
        )
    )


def criterion_lines(found: Monitoring, words: Words) -> list[str]:
    """A line a criterion, and below it what was found."""
    lines = []
    for criterion in found.criteria:
        lines.append(f"{criterion_text(criterion, words)}: {'met' if criterion.met else 'NOT MET'}")
        lines += [f"  {site_text(criterion, check, words)}" for check in criterion.sites]
    lines += [
        f"{words.measure(name).title}, against the site's own model: not checked, since a release holds no "
        "hospital's own model"
        for name in found.not_checked
    ]
    return lines


def verdict(found: Monitoring) -> str:
    """`fit: every criterion is met; 1 input moved by much, 2 moderately`."""
    missed = sum(not criterion.met for criterion in found.criteria)
    if not found.criteria:
        told = "NOT fit: the release has no criterion on a site's own figures, so nothing shows that it is"
    elif missed:
        told = f"NOT fit: {missed} of {len(found.criteria)} criteria {'is' if missed == 1 else 'are'} not met"
    else:
        told = "fit: every criterion is met"
    large, moderate, unknown = (
        sum(one.judged == shift for one in found.inputs) for shift in ("large", "moderate", "too_few")
    )
    if large or moderate:
        told += f"; {large} input{'' if large == 1 else 's'} moved much, {moderate} moderately"
    elif any(one.judged == "stable" for one in found.inputs) and not unknown:
        told += "; no input moved"
    if unknown:
        told += f"; {unknown} input{'' if unknown == 1 else 's'} moved over too few patients to tell"
    unlike = sum(one.judged == "not_comparable" for one in found.inputs)
    if unlike:
        told += f"; {unlike} input{'' if unlike == 1 else 's'} cannot be compared"
    return told
