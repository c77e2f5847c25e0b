"""A site's status as lines of text."""

from collections.abc import Iterator

from wardround.records.site_status import RunStatus, SiteStatus, counts_in_words, in_utc


def status_lines(status: SiteStatus) -> Iterator[str]:
    """What `wardround site status` prints."""
    yield f"site         {status.site}"
    yield f"connection   {status.connection}"
    yield f"certificate  {status.certificate}"
    yield f"training     {status.training}"
    for consent in status.consents:
        yield f"consent      {consent.study}: {consent.told}"
    for one in status.inspections:
        usable = "usable" if one.usable else "not usable"
        counts = counts_in_words(one.counts, one.left_out)
        yield f"data         {one.study}: {usable}, {counts}; inspected {in_utc(one.time)}"
    if not status.inspections:
        yield "data         not inspected here yet: wardround site preflight does"
    for look, file in status.shared:
        yield f"shared       {look.study} {look.version}, look of {look.date}: leaves with every job until rm {file}"
    for run in status.runs:
        yield from _run_lines(run)
    if not status.runs:
        yield "runs         this site has not answered a job yet"


def _run_lines(run: RunStatus) -> Iterator[str]:
    last = run.last
    error = f", with an error: {last.error}" if last.error else ""
    yield f"run          {run.name}, job {last.job}: {last.doing}, {in_utc(last.time)}{error}"
    for answer in run.trained:
        figures = "  ".join(f"{name} {value:.3f}" for name, value in answer.metrics.items())
        yield f"  round {answer.round + 1:<4}  {answer.error or figures or 'answered, without figures'}"
