"""How much a figure needs behind it before it is ranked by: below, it is shown as low_support."""

FEWEST_CASES = 3
"""Cases, or patients, behind a mean over them; with fewer there is no interval either."""

FEWEST_OF_A_CLASS = 10
"""Patients with the outcome, and without it, behind what ranks or calibrates; patients behind a mean over rows."""
