from pathlib import Path

import pytest

from wardround.records.reasons import Reason, WardroundError
from wardround.site.config import find_site_config, load_site_config, resolved_yaml

YAML = """\
name: hospital-a
state_folder: ../state
data:
  brain_tumor: {folder: images/mri, layout: brats2023, labels: brats2023}
  clinical_risk: {file: rows.csv, images_folder: /abs/x, label: outcome}
"""


def _write(folder: Path, text: str = YAML, name: str = "site.yaml") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(text)
    return file


def test_paths_start_from_the_files_own_folder(tmp_path, monkeypatch):
    file = _write(tmp_path / "a")
    monkeypatch.chdir(tmp_path)
    config = load_site_config(Path("a/site.yaml"))
    assert config.source == file
    assert config.state_folder == tmp_path / "state"
    assert config.cache_folder == tmp_path / "a" / "cache"
    assert config.section("brain_tumor")["folder"] == str(tmp_path / "a/images/mri")
    assert config.section("clinical_risk")["file"] == str(tmp_path / "a/rows.csv")
    assert config.section("clinical_risk")["images_folder"] == "/abs/x"
    assert config.section("clinical_risk")["label"] == "outcome"
    assert (config.role, config.synthetic, config.device, config.threads) == ("train", False, "cpu", None)


def test_a_tables_own_words_are_no_paths(tmp_path):
    codes = "{1: 'yes', no: elective, admission_file: urgent, file: emergency}"
    file = _write(tmp_path, YAML + f"  fall_risk: {{columns: {{a: {{codes: {codes}}}}}, rows: {{file: a}}}}\n")
    section = load_site_config(file).section("fall_risk")
    assert section["columns"]["a"]["codes"] == {
        1: "yes",
        False: "elective",
        "admission_file": "urgent",
        "file": "emergency",
    }
    assert section["rows"] == {"file": "a"}


def test_the_resolved_copy_means_the_same_from_another_folder(tmp_path):
    config = load_site_config(_write(tmp_path / "a"))
    copy = load_site_config(_write(tmp_path / "b" / "local", resolved_yaml(config)))
    assert copy.model_dump() == config.model_dump()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("sate_folder: x\n", "sate_folder"),
        ("role: spectator\n", "role"),
        ("device: gpu\n", "device"),
        ("threads: 0\n", "threads"),
        ("data: {}\n", "data"),
        ("data:\n  brain_tumor:\n", "data.brain_tumor"),
    ],
)
def test_a_wrong_key_or_value_is_told_by_file_and_key(tmp_path, change, told):
    lines = YAML if not change.startswith("data") else "name: hospital-a\n"
    file = _write(tmp_path, lines + change)
    with pytest.raises(WardroundError) as raised:
        load_site_config(file)
    assert raised.value.code is Reason.CONFIGURATION_INVALID
    assert f"{file}: {told}" in str(raised.value)


@pytest.mark.parametrize("folder", ["images/mri", "images", ".", "stays.csv", "keys"])
def test_a_cache_holds_nothing_of_the_hospitals_own(tmp_path, folder):
    risk = "  clinical_risk: {source: {kind: csv, file: stays.csv}, contract_file: keys/contract.yaml}\n"
    text = YAML.split("data:")[0] + f"cache_folder: {folder}\ndata:\n  brain_tumor: {{folder: images/mri}}\n" + risk
    with pytest.raises(WardroundError, match=r"cache_folder: .*safe to delete: name a folder of its own"):
        load_site_config(_write(tmp_path, text))


def test_a_state_folder_is_no_folder_of_data_and_a_cache_may_lie_in_one(tmp_path):
    text = "name: hospital-a\nstate_folder: {}\ncache_folder: images/cache\ndata:\n  brain_tumor: {{folder: images}}\n"
    assert load_site_config(_write(tmp_path, text.format("state"))).cache_folder == tmp_path / "images" / "cache"
    with pytest.raises(WardroundError, match=r"state_folder: .* is data\.brain_tumor\.folder too"):
        load_site_config(_write(tmp_path, text.format("images")))


def test_what_a_section_declares_of_its_data_is_its_own(tmp_path):
    text = YAML.replace("layout: brats2023", "layout: brats2023, data_version: '2026-03'")
    config = load_site_config(_write(tmp_path, text))
    assert config.declared("brain_tumor").data_version == "2026-03"
    assert config.declared("clinical_risk").data_version is None


def test_generated_data_is_no_part_of_a_public_data_set(tmp_path):
    assert load_site_config(_write(tmp_path, YAML + "pseudo_site: true\n")).nature == "pseudo_site"
    assert load_site_config(_write(tmp_path, YAML + "synthetic: true\n")).nature == "generated"
    with pytest.raises(WardroundError, match="synthetic and pseudo_site are both true") as raised:
        load_site_config(_write(tmp_path, YAML + "synthetic: true\npseudo_site: true\n"))
    assert raised.value.code is Reason.CONFIGURATION_INVALID
    assert str(tmp_path / "site.yaml") in str(raised.value)
    with pytest.raises(WardroundError, match="synthetic and public_data are both true"):
        load_site_config(_write(tmp_path, YAML + "synthetic: true\npublic_data: true\n"))


@pytest.mark.parametrize(("text", "told"), [("a: [", "YAML"), ("- a\n", "mapping"), (None, "No such file")])
def test_a_file_that_cannot_be_read_is_named(tmp_path, text, told):
    file = _write(tmp_path, text) if text else tmp_path / "site.yaml"
    with pytest.raises(WardroundError, match=told) as raised:
        load_site_config(file)
    assert str(file) in str(raised.value)


def test_a_kind_that_the_site_lacks_is_told(tmp_path):
    with pytest.raises(WardroundError, match=r"data\.sound: missing.*brain_tumor, clinical_risk"):
        load_site_config(_write(tmp_path)).section("sound")


def test_the_sites_own_name_wins_where_sites_share_a_local_folder(tmp_path):
    with pytest.raises(WardroundError, match=r"site\.hospital-a\.yaml"):
        find_site_config(tmp_path, "hospital-a")
    shared = _write(tmp_path)
    own = _write(tmp_path, name="site.hospital-a.yaml")
    assert find_site_config(tmp_path, "hospital-a") == own
    assert find_site_config(tmp_path, "hospital-b") == shared


@pytest.mark.parametrize("line", ["state_folder: ~nosuchuser/x", 'cache_folder: "a\\0b"'])
def test_a_path_that_cannot_be_is_told_by_file_and_key(tmp_path, line):
    text = YAML.replace("state_folder: ../state", line)
    file = _write(tmp_path, text)
    with pytest.raises(WardroundError, match=line.split(":")[0]) as raised:
        load_site_config(file)
    assert str(file) in str(raised.value)


def test_a_data_folder_of_an_unknown_user_is_told_by_its_key(tmp_path):
    file = _write(tmp_path, YAML.replace("images/mri", "~nosuchuser/x"))
    with pytest.raises(WardroundError, match=r"data\.brain_tumor\.folder"):
        load_site_config(file)
