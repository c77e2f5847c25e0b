"""Coded words that answers of every workload's sites may hold, beside `Reason`: no other text leaves a site."""

NOT_ALLOWED = "not_allowed"
"""The site's own rules do not let this figure leave."""

BELOW_MINIMUM_PATIENTS = "fewer_than_minimum_patients"
"""Fewer patients stand behind it than the site's least number for any figure."""

UNLISTED = "unlisted_word"
"""A text that is none of the study's coded words stood here, and stayed at the site."""

CODES = frozenset(
    {
        NOT_ALLOWED,
        BELOW_MINIMUM_PATIENTS,
        UNLISTED,
        # why a figure has no value, or is not to be ranked by
        "fewer_than_minimum_cell",
        "complementary",
        "fewer_than_3_cases",
        "fewer_than_3_patients",
        "fewer_than_10_cases",
        "fewer_than_10_patients",
        "fewer_than_10_positives",
        "fewer_than_10_negatives",
        "no_cases",
        "no_patient_with_this_figure",
        "not_finite",
        "output_not_finite",
        "one_class",
        "unstable_over_resamples",
        "few_validation_patients",
        "target_not_reached",
        "no_head_of_its_own",
        "no_reference_model",
        # what a site finds between rounds
        "key_figure_worse",
        "calibration_worse",
        # what was done for a model's scores
        "statistics_re_measured",
        "statistics_of_scored_cases",
        "fine_tuning_kept",
        "fine_tuning_not_kept",
        "recalibration_kept",
        "recalibration_not_kept",
    }
)

PHASES = frozenset({"train", "validate", "paused", "waited"})
"""Phases of a round whose seconds are told."""
