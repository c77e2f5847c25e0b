"""Coded reasons: the only words about a failure that may leave a hospital."""

from enum import StrEnum

from wardround.records.faults import Fault


class Reason(StrEnum):
    """Why something was refused, left out or failed. The code travels; the message stays where it was raised."""

    # a site's configuration and data
    CONFIGURATION_INVALID = "configuration_invalid"
    CONTRACT_MISMATCH = "contract_mismatch"
    DATA_MISSING = "data_missing"
    DATA_UNREADABLE = "data_unreadable"
    GEOMETRY_INVALID = "geometry_invalid"
    LABEL_AMBIGUOUS = "label_ambiguous"
    MASK_INVALID = "mask_invalid"
    SPLIT_INVALID = "split_invalid"
    SEQUENCE_MISSING = "sequence_missing"
    SEQUENCE_AMBIGUOUS = "sequence_ambiguous"
    CASE_DUPLICATED = "case_duplicated"
    QUORUM_TOO_SMALL = "quorum_too_small"
    NOT_SKULL_STRIPPED = "not_skull_stripped"
    GEOMETRY_DOUBTFUL = "geometry_doubtful"
    GEOMETRY_CHANGED = "geometry_changed"
    INTENSITY_NEGATIVE = "intensity_negative"
    INTENSITY_CONSTANT = "intensity_constant"
    VOLUME_DUPLICATED = "volume_duplicated"
    LABEL_EMPTY = "label_empty"
    LABEL_ROUNDED = "label_rounded"
    LABEL_OUTSIDE_BRAIN = "label_outside_brain"
    REGION_MISSING = "region_missing"
    TOO_FEW_CASES = "too_few_cases"
    COLUMN_MISSING = "column_missing"
    COLUMN_CONSTANT = "column_constant"
    VALUE_INVALID = "value_invalid"
    VALUE_IMPLAUSIBLE = "value_implausible"
    KNOWN_TOO_LATE = "known_too_late"
    MEASURED_TOO_EARLY = "measured_too_early"
    CATEGORY_UNSEEN = "category_unseen"
    ROW_EXCLUDED = "row_excluded"
    OUTCOME_MISSING = "outcome_missing"
    ONE_CLASS = "one_class"
    OPTED_OUT = "opted_out"
    CREDENTIALS_MISSING = "credentials_missing"
    DISK_TOO_SMALL = "disk_too_small"
    MEMORY_TOO_SMALL = "memory_too_small"
    # training
    METRIC_UNKNOWN = "metric_unknown"
    METRICS_MISSING = "metrics_missing"
    NOTHING_KEPT_LOCAL = "nothing_kept_local"
    LOCAL_STATE_MISSING = "local_state_missing"
    LOSS_NOT_FINITE = "loss_not_finite"
    MODULE_MISSING = "module_missing"
    OUT_OF_MEMORY = "out_of_memory"
    SITE_FAILED = "site_failed"
    # what may leave a site
    TOO_FEW_PATIENTS = "too_few_patients"
    OUTBOX_FAILED = "outbox_failed"
    WORKER_DIED = "worker_died"
    # what a hospital does not allow
    NOT_NOW = "not_now"
    CONSENT_MISSING = "consent_missing"
    CONSENT_CHANGED = "consent_changed"
    CONSENT_REVOKED = "consent_revoked"
    # a contribution at the server
    COUNT_INVALID = "count_invalid"
    NAMES_MISMATCH = "names_mismatch"
    SHAPE_MISMATCH = "shape_mismatch"
    TYPE_MISMATCH = "type_mismatch"
    NOT_FINITE = "not_finite"
    NORM_TOO_LARGE = "norm_too_large"
    NO_UPDATE = "no_update"
    KEY_FIGURE_WORSE = "key_figure_worse"
    CALIBRATION_WORSE = "calibration_worse"
    STRAGGLER = "straggler"
    UPDATE_OPPOSED = "update_opposed"
    UPDATE_MUCH_LARGER = "update_much_larger"
    UPDATE_MUCH_SMALLER = "update_much_smaller"
    CHOSEN_ON_FEW_CASES = "chosen_on_few_cases"
    REPLY_INVALID = "reply_invalid"
    # a round or a run
    LATE = "late"
    ABSENT = "absent"
    DISCONNECTED = "disconnected"
    NEVER_CONTRIBUTED = "never_contributed"
    RARELY_CONTRIBUTED = "rarely_contributed"
    QUORUM_NOT_MET = "quorum_not_met"
    ALL_REJECTED = "all_rejected"
    FLARE_FAILED = "flare_failed"
    ENVIRONMENT_INVALID = "environment_invalid"
    INTERRUPTED = "interrupted"
    CHECKPOINT_NOT_WRITTEN = "checkpoint_not_written"
    LEFT_OUT = "left_out"
    DATA_CHANGED = "data_changed"


_LINES = 20  # of a message; all faults are still in the error


class WardroundError(Exception):
    """A failure with a code that may travel and a message that may not.

    The message names the file, key or value, what was expected, what was found and what to do. It can carry
    paths and case names, so only the site's own log and console show it; the server gets `code` alone.

    Args:
        code: what may travel.
        faults: one line each, in parts where these are known.
    """

    def __init__(self, code: Reason, *faults: Fault | str) -> None:
        super().__init__(code, *faults)
        self.code = code
        self.faults = tuple(Fault(found=one) if isinstance(one, str) else one for one in faults)

    def __str__(self) -> str:
        told = [one.text for one in self.faults[:_LINES]]
        more = len(self.faults) - _LINES
        return "\n".join([*told, f"... and {more} more"] if more > 0 else told)
