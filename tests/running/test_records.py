import errno
import os

import pytest

from queuesmith.base.errors import UsageError
from queuesmith.running import records
from queuesmith.running.records import Lines, Tail


def test_lines_come_back_as_they_are_appended(tmp_path):
    lines, tail = Lines(tmp_path / "a.jsonl"), Tail(tmp_path / "a.jsonl")
    lines.append({"n": 1})
    assert list(tail.lines()) == [{"n": 1}]
    lines.append({"n": 2}, sync=False)
    assert list(tail.lines()) == [{"n": 2}]
    assert list(tail.lines()) == []
    lines.close()


def test_half_a_line_of_a_killed_process_is_passed_over(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"n": 1}\n{"n": 2')
    tail = Tail(path)
    assert list(tail.lines()) == [{"n": 1}]
    lines = Lines(path)
    lines.append({"n": 3})
    assert list(tail.lines()) == [{"n": 3}]
    lines.close()


def test_one_sees_whether_the_writer_is_alive(tmp_path):
    lines, tail = Lines(tmp_path / "a.jsonl"), Tail(tmp_path / "a.jsonl")
    assert tail.writer_is_alive()
    with pytest.raises(UsageError, match="another process runs the bags"):
        Lines(tmp_path / "a.jsonl")
    lines.close()
    assert not tail.writer_is_alive()


def test_a_full_disk_is_waited_for_and_nothing_is_lost(tmp_path, monkeypatch):
    lines, real, calls = Lines(tmp_path / "a.jsonl"), os.write, []

    def full_at_first(file, content):
        calls.append(content)
        if len(calls) == 1:
            real(file, content[:4])
            return 4
        if len(calls) < 5:
            raise OSError(errno.ENOSPC, "no space left")
        return real(file, content)

    monkeypatch.setattr(records.os, "write", full_at_first)
    monkeypatch.setattr(records, "FULL_DISK_EVERY", 0.0)
    lines.append({"n": 1})
    lines.append({"n": 2})
    lines.close()
    found = list(Tail(tmp_path / "a.jsonl").lines())
    assert found[-1] == {"n": 2} and len(calls) >= 6
