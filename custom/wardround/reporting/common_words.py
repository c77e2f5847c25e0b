"""Words that all workloads share: of the arms, and of the codes that no workload brings along."""

from wardround.records.arms import (
    ALONE,
    BEST,
    LAST,
    PERSONALISED,
    POOLED,
    POOLED_REFERENCE,
    RECALIBRATED,
    REFERENCE,
)

ARMS = {
    BEST: "Federated, best round",
    LAST: "Federated, last round",
    PERSONALISED: "Federated, then fine-tuned at the site",
    RECALIBRATED: "Federated, with the site's own recalibration",
    ALONE: "Alone: each hospital's own data only",
    REFERENCE: "Simple model, own data",
    POOLED: "Pooled: all data in one place",
    POOLED_REFERENCE: "Simple model, all data in one place",
}
SHORT_ARMS = {
    BEST: "federated, best",
    LAST: "federated, last",
    PERSONALISED: "federated, fine-tuned",
    RECALIBRATED: "federated, recalibrated",
    ALONE: "alone, at home",
    REFERENCE: "simple model",
    POOLED: "pooled",
    POOLED_REFERENCE: "simple, pooled",
}
ARM_HEADS = {
    **SHORT_ARMS,
    BEST: "federated",
    LAST: "fed., last",
    PERSONALISED: "fine-tuned",
    RECALIBRATED: "recalibrated",
    ALONE: "alone",
}
CODES = {
    "absent": "did not join",
    "disconnected": "was not connected",
    "rarely_contributed": "contributed to fewer than half of its rounds",
    "all_rejected": "every contribution was rejected",
    "late": "answered after the deadline",
    "metrics_missing": "returned no metrics",
    "not_finite": "sent a value that is NaN or infinite",
    "norm_too_large": "sent an update larger than the study allows",
    "names_mismatch": "sent parameters of other names than agreed",
    "shape_mismatch": "sent parameters of other shapes than agreed",
    "no_update": "no update: the model is the one it received",
    "chosen_on_few_cases": "helped to choose the best round with too few validation cases to rank by",
    "quorum_too_small": "refuses to train in a study whose quorum is below three",
    "quorum_not_met": "fewer accepted contributions than the quorum",
    "statistics_re_measured": "BatchNorm statistics re-measured on the site's own unlabelled cases",
    "no_head_of_its_own": "has no head of its own, so the model has no figures here",
    "no_reference_model": "no simple model: the training cases do not allow one",
    "recalibration_kept": "recalibration was better on validation",
    "recalibration_not_kept": "recalibration was no better on validation, so the probabilities were left as they were",
    "fine_tuning_kept": "fine-tuning was better on validation",
    "fine_tuning_not_kept": "fine-tuning was no better on validation, so the federated model was kept",
    "no_cases": "no cases to score",
    "one_class": "only one outcome occurs, so it has no value",
    "target_not_reached": "no threshold reaches the target on validation",
    "unstable_over_resamples": "not stable when patients are drawn again",
    "fewer_than_minimum_cell": "below the site's minimum cell",
}
