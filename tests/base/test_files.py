"""Files: unpacked within limits, and written whole, durably, or not at all."""

import gzip
import os
import resource
import time
from pathlib import Path

import pytest

from queuesmith.base import files
from queuesmith.base.errors import OutputError, UsageError, WorkloadError
from queuesmith.base.files import atomic_write, read_bytes


@pytest.fixture
def bomb(tmp_path):
    path = tmp_path / "bomb.swf.gz"
    path.write_bytes(gzip.compress(bytes(40_000_000), mtime=0))
    return path


def test_what_would_fill_the_memory_is_refused_while_it_is_unpacked(bomb, monkeypatch):
    monkeypatch.setattr(files, "MOST_UNPACKED", 1_000_000)
    with pytest.raises(WorkloadError, match=r"more than 1,\d+,\d+ unpacked.*UNPACK_LIMIT"):
        read_bytes(bomb)


def test_the_limit_can_be_raised_and_lowered(bomb, monkeypatch):
    monkeypatch.setenv("QUEUESMITH_UNPACK_LIMIT", "10K")
    with pytest.raises(WorkloadError, match="more than 10,240 unpacked"):
        read_bytes(bomb)
    monkeypatch.setenv("QUEUESMITH_UNPACK_LIMIT", "1g")
    with pytest.raises(WorkloadError, match=r"no job|empty|binary|nothing") as told:
        files.check_text(read_bytes(bomb), bomb, "text")
    assert "UNPACK_LIMIT" not in str(told.value)
    monkeypatch.setenv("QUEUESMITH_UNPACK_LIMIT", "much")
    with pytest.raises(UsageError, match="must be a number of bytes"):
        read_bytes(bomb)


def test_several_packed_parts_are_one_file(tmp_path):
    path = tmp_path / "parts.gz"
    path.write_bytes(gzip.compress(b"one ") + gzip.compress(b"two"))
    assert read_bytes(path) == b"one two"


def test_bytes_are_on_disk_before_the_file_takes_its_name(tmp_path, monkeypatch):
    path, done = tmp_path / "result.csv", []
    real = os.fsync

    def noting(number):
        done.append("folder" if Path(f"/proc/self/fd/{number}").is_dir() else "file")
        assert path.exists() == (done[-1] == "folder")
        real(number)

    monkeypatch.setattr(os, "fsync", noting)
    with atomic_write(path) as file:
        file.write(b"id,start")
    assert done == ["file", "folder"]


def test_what_killed_processes_left_is_swept_and_nothing_else(tmp_path):
    old = time.time() - 7200
    names = {
        ".result.csv.0123456789ab.tmp": old,
        ".result.csv.ba9876543210.tmp": time.time(),
        ".other.csv.0123456789ab.tmp": old,
        ".result.csv.notes.tmp": old,
    }
    for name, when in names.items():
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (when, when))
    with atomic_write(tmp_path / "result.csv") as file:
        file.write(b"x")
    left = {each.name for each in tmp_path.iterdir()}
    assert left == {"result.csv", *names} - {".result.csv.0123456789ab.tmp"}


def test_a_full_disk_leaves_what_stood_there(tmp_path):
    path = tmp_path / "result.csv"
    path.write_text("before")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(OutputError, match="cannot be written"), atomic_write(path) as file:
            file.write(bytes(100_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [each.name for each in tmp_path.iterdir()] == ["result.csv"]
    assert path.read_text() == "before"
