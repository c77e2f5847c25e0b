"""What the disclosure gate lets through of texts: words of the study, and no others."""

import json

import pytest
from pydantic import ValidationError

from support.gated import ID, a_manifest, a_record, passed
from wardround.records.alerts import AlertRow
from wardround.records.metric_record import Status, suppressed
from wardround.records.orders import Reply
from wardround.records.reasons import Reason
from wardround.records.scores import Cohort, Tally


def test_a_failure_is_its_code_and_nothing_else() -> None:
    reply = Reply(error=Reason.DATA_MISSING, records=[a_record()], notes=["patient_0042"])
    assert passed(reply) == Reply(error=Reason.DATA_MISSING)


@pytest.mark.parametrize(
    "reply",
    [
        Reply(records=[a_record(ID)]),
        Reply(records=[a_record(status=Status.LOW_SUPPORT, reason=ID)]),
        Reply(records=[suppressed("dice_wt", ID)]),
        Reply(tallies=[Tally(name=ID, counts={"sum": 1.0}, n=9, support=9)]),
        Reply(tallies=[Tally(name="column_age", counts={ID: 1.0}, n=9, support=9)]),
        Reply(cohorts=[Cohort(name="age_band", value=ID, records=[a_record()])]),
        Reply(cohorts=[Cohort(name=ID, value="young", records=[a_record()])]),
        Reply(cohorts=[Cohort(name="age_band", value="young", records=[a_record(ID)])]),
        Reply(alerts=[AlertRow(goal="ppv", target=0.5, threshold=None, reason=ID)]),
        Reply(alerts=[AlertRow(goal="ppv", target=0.5, threshold=0.5, records=[a_record(ID)])]),
        Reply(notes=[ID]),
        Reply(suppressed=[ID]),
        Reply(manifest=a_manifest(counts={"train_patients": 9, ID: 9})),
        Reply(manifest=a_manifest(problems={ID: 9})),
        Reply(manifest=a_manifest(metric_names=("dice_wt", ID))),
        Reply(manifest=a_manifest(suppressed=[ID])),
        Reply(manifest=a_manifest(statistics=[Tally(name=ID, counts={"sum": 1.0}, n=9, support=9)])),
        Reply(manifest=a_manifest(versions={ID: "1.0"})),
    ],
)
def test_a_text_that_is_no_word_of_ours_stays_wherever_it_stands_and_is_not_dropped_without_a_word(
    reply: Reply,
) -> None:
    told = passed(reply)
    text = json.dumps(told.model_dump(mode="json"))
    assert ID not in text
    assert "unlisted_word" in text


def test_a_path_a_date_or_a_sentence_is_no_code_at_all() -> None:
    for text in ("/data/patient-0042/t1c.nii.gz", "1950-01-31", "cannot read it", "Müller"):
        with pytest.raises(ValidationError):
            Reply(notes=[text])
