"""Names of the models that a run scores: its own, and what they are compared with."""

BEST = "best"  # the federated model of the round that validation chose
LAST = "last"  # the federated model after the last round
PERSONALISED = "personalised"  # best, fine-tuned at the site where that helps
RECALIBRATED = "recalibrated"  # what the site has after that, with its probabilities corrected where that helps
REFERENCE = "reference"  # the workload's simple model, fitted on the site's own training cases
POOLED = "pooled"  # one model of all data in one place
POOLED_REFERENCE = "pooled_reference"  # the simple model, fitted on all data in one place
ALONE = "alone"  # in reports, every hospital's own model at home, as one arm
AGAINST_ALONE = {  # in orders: how one of the run's models compares with the site's own
    "best_against_alone": BEST,
    "last_against_alone": LAST,
}
IN_READING_ORDER = (BEST, LAST, PERSONALISED, RECALIBRATED, ALONE, REFERENCE, POOLED, POOLED_REFERENCE)
_ALONE = f"{ALONE}:"


def alone_at(site: str) -> str:
    """The arm of one hospital's own model, trained without the others: `alone:<site>`."""
    return f"{_ALONE}{site}"


def is_alone(arm: str) -> bool:
    """Whether it is some hospital's own model."""
    return arm.startswith(_ALONE)


def site_of(arm: str) -> str:
    """The hospital whose own model it is."""
    return arm.removeprefix(_ALONE)


def is_baseline(arm: str) -> bool:
    """Whether it was made beside the federation: its figures did not go through FLARE."""
    return arm in (POOLED, POOLED_REFERENCE) or is_alone(arm)
