import hashlib
import os

import pytest

from wardround.workloads.brain_tumor import content_hash
from wardround.workloads.brain_tumor.content_hash import ContentHashes


@pytest.fixture
def settled(monkeypatch):
    """Takes files for older than the file system's clock tick, as they are at a hospital."""
    monkeypatch.setattr(content_hash, "_SETTLED_NS", -1)


def _sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def test_a_file_is_read_once_while_nothing_about_it_changes(tmp_path, settled, monkeypatch):
    file = tmp_path / "a"
    file.write_bytes(b"one")
    hashes = ContentHashes(tmp_path / "index.json")
    assert hashes.of(file) == _sha(b"one")
    hashes.save()
    again = ContentHashes(tmp_path / "index.json")
    monkeypatch.setattr(content_hash.hashlib, "file_digest", lambda *_: pytest.fail("read again"))
    assert again.of(file) == _sha(b"one")


def test_new_content_of_the_same_size_and_mtime_is_noticed(tmp_path, settled):
    file = tmp_path / "a"
    file.write_bytes(b"one")
    hashes = ContentHashes(tmp_path / "index.json")
    hashes.of(file)
    status = file.stat()
    file.write_bytes(b"two")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert hashes.of(file) == _sha(b"two")


def test_a_file_that_was_just_written_is_not_remembered(tmp_path):
    file = tmp_path / "a"
    file.write_bytes(b"one")
    hashes = ContentHashes(tmp_path / "index.json")
    hashes.of(file)
    hashes.save()
    assert not (tmp_path / "index.json").exists()


@pytest.mark.parametrize("content", ["", "[1, 2", '{"x": 3}', "[]"])
def test_a_broken_index_costs_time_only(tmp_path, settled, content):
    file = tmp_path / "a"
    file.write_bytes(b"one")
    (tmp_path / "index.json").write_text(content)
    hashes = ContentHashes(tmp_path / "index.json")
    assert hashes.of(file) == _sha(b"one")
    hashes.save()
    assert str(file) in (tmp_path / "index.json").read_text()


def test_two_processes_keep_each_others_hashes(tmp_path, settled):
    for name in ("a", "b"):
        (tmp_path / name).write_text(name)
    one, other = ContentHashes(tmp_path / "index.json"), ContentHashes(tmp_path / "index.json")
    one.of(tmp_path / "a")
    other.of(tmp_path / "b")
    one.save()
    other.save()
    kept = (tmp_path / "index.json").read_text()
    assert str(tmp_path / "a") in kept
    assert str(tmp_path / "b") in kept
