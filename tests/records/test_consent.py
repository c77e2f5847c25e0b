from wardround.records.consent import NOT_ASKED_ABOUT, Subject, differences
from wardround.records.study_sections import Federation

SETTINGS = {"name": "study", "training": {"rounds": 4}, "workload": {"contract": {"columns": {"age": {"minimum": 0}}}}}


def subject(**changes):
    return Subject(**{"study_sha256": "a" * 64, "settings": SETTINGS, "package_sha256": "b" * 64, **changes})


def test_equal_subjects_do_not_differ():
    assert differences(subject(), subject()) == []


def test_each_setting_that_differs_is_told_with_both_values():
    other = {**SETTINGS, "training": {"rounds": 8, "batch_size": 2}, "workload": {"contract": {"columns": {}}}}
    assert differences(subject(), subject(settings=other, study_sha256="c" * 64)) == [
        "training.rounds: 4 -> 8",
        "workload.contract.columns.age.minimum: 0 -> not there",
        "training.batch_size: not there -> 2",
        "workload.contract.columns: not there -> {}",
    ]


def test_code_image_and_a_hash_alone_are_told_too():
    image = "sha256:" + "d" * 64
    told = differences(subject(), subject(study_sha256="c" * 64, package_sha256="e" * 64, image_digest=image))
    assert [line.split(":")[0] for line in told] == ["job.yaml", "installed code", "image"]
    assert told[2] == f"image: none told -> {image}"


def test_how_long_the_server_waits_is_not_asked_about():
    other = {**SETTINGS, "federation": {"round_deadline_seconds": 60, "grace_period_seconds": 1}}
    assert differences(subject(), subject(settings=other, study_sha256="c" * 64)) == []
    other["federation"]["quorum"] = 2
    assert differences(subject(), subject(settings=other, study_sha256="c" * 64)) == [
        "federation.quorum: not there -> 2"
    ]


def test_what_is_not_asked_about_are_settings_and_every_new_one_is_asked_about():
    waits = {f"federation.{name}" for name in Federation.model_fields if name.endswith("_seconds")}
    assert set(NOT_ASKED_ABOUT) == waits
    assert set(Federation.model_fields) == {"quorum", "gpus", *(key.removeprefix("federation.") for key in waits)}
