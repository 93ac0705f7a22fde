import json

import pytest

from queuesmith.base.errors import OutputError, UsageError
from queuesmith.study.shards import Shards


def one(value):
    return {"values": [value], "why": None, "seconds": 0.0, "host": "here"}


def test_what_one_writes_another_reads(tmp_path):
    writer, reader = Shards(tmp_path / "a"), Shards(tmp_path / "a")
    writer.write({"x": one(1.0)})
    assert reader.refresh() == {"x": one(1.0)}
    writer.write({"y": one(0.1)})
    assert set(reader.refresh()) == {"x", "y"}


def test_nothing_found_makes_no_file(tmp_path):
    assert Shards(tmp_path).write({}) is None
    assert not list(tmp_path.iterdir())


def test_a_damaged_shard_counts_as_not_there(tmp_path):
    shards = Shards(tmp_path)
    path = shards.write({"x": one(1.0)})
    path.write_bytes(path.read_bytes().replace(b"1.0", b"2.0"))
    again = Shards(tmp_path)
    assert again.refresh() == {}
    assert again.damaged == {path.name}


def test_a_shard_that_breaks_off_counts_as_not_there(tmp_path):
    path = Shards(tmp_path).write({"x": one(1.0)})
    path.write_bytes(path.read_bytes()[:10])
    assert Shards(tmp_path).refresh() == {}


def test_two_results_of_one_unit_that_differ_are_told(tmp_path):
    shards = Shards(tmp_path)
    shards.write({"x": one(1.0)})
    shards.write({"x": one(1.5)})
    with pytest.raises(UsageError, match="different results of one unit"):
        shards.refresh()


def test_the_same_result_twice_is_no_fault(tmp_path):
    shards = Shards(tmp_path)
    shards.write({"x": one(1.0)})
    shards.write({"x": {**one(1.0), "host": "there"}})
    assert len(shards.refresh()) == 1


def test_others_see_what_a_worker_is_busy_with(tmp_path):
    shards = Shards(tmp_path)
    with shards.busy(["x", "y"]):
        assert Shards(tmp_path).under_way() == {"x", "y"}
    assert shards.under_way() == set()


def test_notes_of_workers_long_dead_are_swept(tmp_path):
    import os

    note = tmp_path / "busy-0.json"
    note.write_text(json.dumps(["x"]))
    os.utime(note, (0, 0))
    assert Shards(tmp_path).under_way() == set()
    assert not note.exists()


def test_a_folder_that_cannot_be_made_is_told_in_a_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be made"):
        Shards(tmp_path / "file" / "folder")
