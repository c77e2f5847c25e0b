"""A site's status as one page for its admin: no script, nothing from elsewhere."""

from wardround.records.site_status import SiteStatus, counts_in_words, in_utc
from wardround.reporting.page_template import environment


def render_status(status: SiteStatus, written: str) -> str:
    """The page as text.

    Args:
        status: what is known.
        written: when, since a page that lies about does not change.
    """
    template = environment().get_template("status.html.j2")
    return template.render(status=status, written=written, counts_in_words=counts_in_words, in_utc=in_utc)
