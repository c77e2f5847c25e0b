"""The words of clinical risk prediction in reports."""

from math import inf

from wardround.workloads.vocabulary import Family, Figure, Vocabulary


def _family(
    key: str,
    title: str,
    higher: bool,
    digits: int = 3,
    *,
    formula: str,
    meaning: str = "",
    head: str = "",
    lowest: float = 0.0,
    highest: float = 1.0,
) -> Family:
    """A share, unless a range is given."""
    return Family(
        key,
        title,
        higher,
        digits,
        counts_positives=True,
        meaning=meaning,
        head=head,
        formula=formula,
        lowest=lowest,
        highest=highest,
    )


VOCABULARY = Vocabulary(
    families=(
        _family(
            "auroc",
            "AUROC",
            True,
            meaning="How often a patient with the outcome gets a higher risk than one without; a coin has 0.5. "
            "It says nothing of whether the risks themselves are right.",
            formula="chance that a random row with the outcome has a higher risk than one without, ties count half",
        ),
        _family(
            "auprc",
            "AUPRC",
            True,
            meaning="Average precision: the share of true alerts, averaged over all thresholds. A model that knows "
            "nothing reaches the prevalence, so read it beside that, and never across hospitals of other prevalence.",
            formula="sum over thresholds of recall gained times precision there, without interpolation",
        ),
        _family(
            "prevalence",
            "Prevalence",
            True,
            meaning="Share of the patients or stays that have the outcome.",
            formula="rows with the outcome / rows",
        ),
        _family(
            "brier",
            "Brier score",
            False,
            meaning="Mean squared distance between risk and outcome; lower is better. Its parts add up: reliability "
            "(how far the risks are from what happens; lower is better) - resolution (how far the groups of like risk "
            "lie apart; higher is better) + within bin + uncertainty (what the prevalence alone leaves open).",
            formula="mean over rows of (p - y)^2, p the risk and y 1 or 0",
        ),
        _family(
            "brier_skill",
            "Brier skill",
            True,
            meaning="Share of the Brier score of the prevalence alone that the model takes away: 0 is no better than "
            "telling everyone the prevalence, below 0 is worse.",
            formula="1 - Brier / (o (1 - o)), o the prevalence of the same rows",
            lowest=-inf,
        ),
        _family(
            "brier_reliability",
            "Reliability",
            False,
            4,
            formula="sum n_k (f_k - o_k)^2 / n over ten bins of equal mass, f_k mean risk and o_k observed share",
        ),
        _family(
            "brier_resolution",
            "Resolution",
            True,
            4,
            formula="sum n_k (o_k - o)^2 / n over the same bins",
            highest=0.25,
        ),
        _family(
            "brier_within_bin",
            "Within bin",
            False,
            4,
            formula="variance of p within bins - 2 covariance of p and y within bins",
            lowest=-inf,
            highest=inf,
        ),
        _family("brier_uncertainty", "Uncertainty", False, 4, formula="o (1 - o)", highest=0.25),
        _family(
            "log_loss",
            "Log loss",
            False,
            formula="mean over rows of -ln of the risk given to what happened",
            highest=inf,
        ),
        _family("accuracy", "Accuracy at 0.5", True, formula="share of rows with (p >= 0.5) = y"),
        _family(
            "calibration_error",
            "Calibration error",
            False,
            head="Error",
            meaning="Expected calibration error: the mean gap between risk and observed share over groups of like "
            "risk; lower is better, and never quite 0 by chance on few patients.",
            formula="sum n_k |f_k - o_k| / n over ten bins of equal mass",
        ),
        _family(
            "calibration_slope",
            "Calibration slope",
            True,
            2,
            head="Slope",
            meaning="1 is right; below 1 the risks are too extreme, above 1 too timid.",
            formula="b of the logistic regression y ~ a + b logit(p)",
            lowest=-inf,
            highest=inf,
        ),
        _family(
            "calibration_intercept",
            "Calibration intercept",
            True,
            2,
            head="Intercept",
            meaning="At slope 1: 0 is right; below 0 the risks are too high overall, above 0 too low.",
            formula="a of the logistic regression y ~ a + logit(p)",
            lowest=-inf,
            highest=inf,
        ),
        _family(
            "sensitivity",
            "Sensitivity",
            True,
            meaning="Share of the patients with the outcome that are alerted.",
            formula="rows with the outcome that are alerted / rows with the outcome",
        ),
        _family(
            "specificity",
            "Specificity",
            True,
            formula="rows without the outcome that are not alerted / rows without the outcome",
        ),
        _family(
            "ppv",
            "PPV",
            True,
            meaning="Share of the alerts that are true.",
            formula="alerted rows with the outcome / alerted rows",
        ),
        _family(
            "npv",
            "NPV",
            True,
            meaning="Share of those not alerted that do not have the outcome.",
            formula="rows without the outcome that are not alerted / rows not alerted",
        ),
        _family("alerts_per_100", "Alerts per 100", False, 1, formula="100 alerted rows / rows", highest=100),
        Family("score_bins", "Bins of risk by outcome", True, 0, formula="rows by bin of risk and outcome"),
        Family("squared_error", "Sum of squared errors", False, 0, formula="sum over rows of (p - y)^2"),
        Family("column", "Sums by column", True, 0, formula="sums of a column's values and of their squares"),
    ),
    codes={
        "no_cases": "no patients to score",
        "fewer_than_10_positives": "fewer than 10 patients with the outcome",
        "fewer_than_10_negatives": "fewer than 10 patients without the outcome",
        "fewer_than_10_cases": "fewer than 10 patients",
        "complementary": "held back so that another part cannot be worked out",
        "classes_separable": "risks separate the outcomes wholly, so a slope has no end",
        "constant_probability": "every patient has the same risk",
        "no_reference_model": "no logistic regression: training rows of one outcome",
        "known_too_late": "holds a value from after the index date",
        "no_alerts": "nobody is alerted",
    },
    arms={
        "reference": "Logistic regression, own data",
        "pooled_reference": "Logistic regression, all data in one place",
    },
    short_arms={"reference": "log. regr.", "pooled_reference": "log.r. pooled"},
    purpose="The model gives each row of a table, such as a stay, a probability of the study's outcome.",
    predicted="predicted risk",
    figures=(
        Figure("rows", "rows", 0),
        Figure("without_risk", "rows left out", 0),
        Figure("mean_risk", "mean risk", 3),
    ),
    console_title="Ranking, Brier score and calibration (slope 1 and intercept 0 are right)",
    console_families=("auroc", "auprc", "brier", "calibration_slope", "calibration_intercept"),
    what_stays="Patients' rows, their risks and outcomes, and file names",
    small_counts="sums by column, bins and cohorts of fewer patients than the hospital's minimum cell are merged or "
    "held back",
    left_out="rows or files",
    probability="risk",
    probabilities="risks",
    page_families=("auroc", "auprc", "prevalence", "brier", "brier_skill", "accuracy"),
)
