import pytest

from support.faulty_hospital import write_faulty_hospital
from support.made_cases import SETTINGS
from wardround.records.inspection import Finding
from wardround.site.config import load_site_config
from wardround.workloads.brain_tumor.workload import BrainTumorWorkload
from wardround.workloads.split import SPLITS


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    file, planted = write_faulty_hospital(tmp_path_factory.mktemp("hospital"))
    config = load_site_config(file)
    workload = BrainTumorWorkload(SETTINGS)

    def open_again():
        return workload.open_site(config.section("brain_tumor"), cache=config.cache_folder)

    def glance():
        return workload.glance(config.section("brain_tumor"), cache=config.cache_folder)

    return open_again, planted, glance


def _told(finding: Finding) -> tuple:
    name = finding.where.file.rpartition("/")[2]
    return finding.where.case, name, finding.kind, finding.severity


def test_each_planted_fault_is_found_and_nothing_else_is_doubted(opened):
    open_again, planted, _ = opened
    findings = open_again().findings
    assert len(planted) == 10
    expected = {(one.case, one.file, one.kind, one.severity) for one in planted}
    assert {_told(one) for one in findings.warnings} == expected
    assert not findings.errors
    for one in findings.warnings:
        assert one.found
        assert one.expected
        assert one.advice


def test_counts_are_those_that_training_uses_and_a_second_look_tells_the_same(opened):
    open_again, planted, _ = opened
    data = open_again()
    refused = {one.case for one in planted if not one.used}
    used = {case.case for split in SPLITS for case in data.cases(split)}
    assert data.counts["left_out"] == len(refused) == sum(one.count for one in data.findings.warnings)
    assert used.isdisjoint(refused)
    assert sum(data.counts[f"{split}_cases"] for split in SPLITS) == len(used) == 15 - len(refused)
    again = open_again()
    assert again.findings == data.findings
    assert again.counts == data.counts


def test_a_copy_across_splits_says_which(opened):
    open_again, *_ = opened
    (copy,) = [one for one in open_again().findings.warnings if one.kind == "case_duplicated"]
    assert "in test and in train" in copy.found


def test_pictures_show_cases_with_findings_first(opened):
    open_again, planted, _ = opened
    data = open_again()
    pictures = data.illustrate().pictures
    doubtful = {one.case for one in planted if one.kind != "sequence_missing"}  # without its files there is no case
    assert {one.caption.partition(" (")[0] for one in pictures[: len(doubtful)]} == doubtful
    assert len(pictures) == len(doubtful) + 2
    assert all("nothing found" in one.caption for one in pictures[len(doubtful) :])
    assert all(one.png.startswith(b"\x89PNG") and len(one.png) < 200_000 for one in pictures)


def test_headers_alone_tell_what_headers_can(opened):
    _, planted, look = opened
    glance = look()
    by_header = {one.case for one in planted if one.kind in ("sequence_missing", "geometry_invalid")}
    assert {one.where.case for one in glance.findings.warnings} == by_header
    assert glance.counts["left_out"] == len(by_header)
    assert sum(glance.counts[f"{split}_cases"] for split in SPLITS) == 15 - len(by_header)
