"""The record of long work: whole pieces or nothing, never another run's, never a damaged one."""

import json
import os
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import threading

import pytest

from queuesmith.base.errors import OutputError, QueuesmithError, UsageError
from queuesmith.study.store import Store, fingerprint, remove_record

FACTS = {"method": "pittsburgh", "seed": 1, "order my.py:mine": "sha256:1", "features": ["a"]}

WRITER = """
import sys
from queuesmith.study.store import Store
with Store(sys.argv[1], {"seed": 1}) as store:
    number = 0
    while True:
        store.put(str(number), bytes([number % 256]) * 5000)
        number += 1
        print(number, flush=True)
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.sqlite"


def filled(path, count=20):
    with Store(path, FACTS) as store:
        for number in range(count):
            store.put(f"round {number}", json.dumps([number, 0.1 + 0.2]).encode())


def test_what_was_recorded_comes_back_exactly(path):
    filled(path)
    with Store(path, FACTS) as store:
        assert len(store) == 20
        assert store.get("round 3") == b"[3, 0.30000000000000004]"
        assert store.get("round 20") is None


def test_a_piece_can_be_recorded_again(path):
    with Store(path, FACTS) as store:
        store.put("a", b"1")
        store.put("a", b"2")
        assert (store.get("a"), len(store)) == (b"2", 1)


def test_threads_may_record_at_the_same_time(path):
    with Store(path, FACTS) as store:
        threads = [
            threading.Thread(target=lambda n=n: [store.put(f"{n} {i}", b"x") for i in range(10)])
            for n in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(store) == 40


def test_the_record_is_one_file(path, tmp_path):
    filled(path)
    assert [each.name for each in tmp_path.iterdir()] == ["run.sqlite"]


def test_a_killed_writer_loses_at_most_the_piece_in_flight(path):
    writer = subprocess.Popen([sys.executable, "-c", WRITER, path], stdout=subprocess.PIPE)
    told = 0
    while told < 20:
        told = int(writer.stdout.readline())
    os.kill(writer.pid, signal.SIGKILL)
    told = max([told, *(int(line) for line in writer.stdout.read().split())])
    writer.wait()
    writer.stdout.close()
    with Store(path, {"seed": 1}) as store:
        assert told <= len(store) <= told + 1
        for number in range(len(store)):
            assert store.get(str(number)) == bytes([number % 256]) * 5000


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        ({**FACTS, "seed": 2}, r"the seed changed since it was begun, from 1 to 2\. Begin anew"),
        ({**FACTS, "rules": 3}, r"the rules changed since it was begun, from nothing to 3\."),
        ({k: v for k, v in FACTS.items() if k != "seed"}, r"the seed changed .* from 1 to nothing"),
        ({**FACTS, "method": "x" * 100}, r"xxx\.\.\.\."),
        (
            {**FACTS, "order my.py:mine": "sha256:2"},
            r"the order my\.py:mine changed since it was begun\. Begin anew with another file",
        ),
    ],
)
def test_what_changed_since_a_run_was_begun_is_told(path, other, sentence):
    filled(path)
    with pytest.raises(UsageError, match=sentence):
        Store(path, other)
    Store(path, FACTS).close()  # and it stays as it was


def test_the_second_writer_is_told_who_the_first_is(path):
    holder = rf"in use by another run \(process {os.getpid()} of .* on .*, since 20.*\)\. Wait"
    with Store(path, FACTS), pytest.raises(UsageError, match=holder):
        Store(path, FACTS)
    Store(path, FACTS).close()


def test_a_file_that_is_no_database_is_refused_and_kept(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("what I had for lunch, and why it matters so much " * 20)
    with pytest.raises(UsageError, match="no record of a run"):
        Store(path, FACTS)
    assert path.read_text().startswith("what I had")


def make(path, *statements):
    base = sqlite3.connect(path)
    for statement in statements:
        base.execute(statement)
    base.commit()
    base.close()


def test_somebody_elses_database_is_refused_and_kept(path):
    make(path, "CREATE TABLE lunch (name TEXT)")
    with pytest.raises(UsageError, match="no record of a run, but a database of something else"):
        Store(path, FACTS)
    base = sqlite3.connect(path)
    assert base.execute("SELECT name FROM sqlite_schema").fetchall() == [("lunch",)]
    base.close()


@pytest.mark.parametrize(
    ("statements", "version"),
    [
        (("PRAGMA application_id = 1366512238", "PRAGMA user_version = 1"), "an older .*format 1"),
        (("PRAGMA application_id = 1366512238", "PRAGMA user_version = 9"), "a newer .*format 9"),
        (("CREATE TABLE sweep (fingerprint TEXT)", "CREATE TABLE part (number)"), "format 1"),
    ],
)
def test_records_of_other_versions_are_refused_with_the_way_out(path, statements, version):
    make(path, "CREATE TABLE setting (name TEXT)", *statements)
    with pytest.raises(UsageError, match=f"{version}.*Begin anew with another file, or delete"):
        Store(path, FACTS)


def test_a_folder_that_does_not_exist_is_told_at_once(tmp_path):
    with pytest.raises(OutputError, match="no folder"):
        Store(tmp_path / "nowhere" / "run.sqlite", FACTS)


def test_a_record_that_cannot_be_written_is_told(path):
    with Store(path, FACTS) as store:
        store._file.execute("PRAGMA query_only = ON")
        with pytest.raises(OutputError, match="cannot be written"):
            store.put("a", b"1")


def test_a_full_disk_is_told_and_what_was_recorded_stays(path):
    filled(path)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Store(path, FACTS) as store:
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 10_000, before[1]))
        try:
            with pytest.raises(OutputError, match=r"cannot be written .* stays"):
                store.put("large", bytes(1_000_000))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
    with Store(path, FACTS) as store:
        assert len(store) == 20


@pytest.mark.parametrize("seed", range(3))
def test_a_flipped_bit_is_told_or_changes_nothing(path, seed):
    filled(path)
    whole, chance = path.read_bytes(), random.Random(seed)
    with Store(path, FACTS) as store:
        known = {f"round {n}": store.get(f"round {n}") for n in range(20)}
    for _ in range(100):
        data = bytearray(whole)
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        path.write_bytes(data)
        try:
            with Store(path, FACTS) as store:
                found = {key: store.get(key) for key in known}
        except QueuesmithError:
            continue
        assert all(found[key] in (None, known[key]) for key in known)


def test_a_damaged_piece_is_told_with_the_way_out(path):
    filled(path)
    data = path.read_bytes()
    path.write_bytes(data.replace(b"[3, 0.3", b"[3, 0.4"))
    with pytest.raises(UsageError, match=r"damaged \(its piece 'round 3' .* Begin anew"):
        Store(path, FACTS)


def test_names_of_the_run_that_were_damaged_are_told(path):
    filled(path)
    path.write_bytes(path.read_bytes().replace(b'"seed": 1', b'"seed": 2'))
    with pytest.raises(UsageError, match=r"damaged .*what names the run"):
        Store(path, {**FACTS, "seed": 2})


def test_text_that_is_no_utf8_is_told_as_damage(path):
    """The error that Python raises then has no code of SQLite: the old handler failed on it."""
    filled(path)
    store = Store(path, FACTS)
    with pytest.raises(UsageError, match="damaged"), store._speaking():
        store._file.execute("SELECT CAST(x'ff' AS TEXT)").fetchall()
    store.close()


def test_a_record_can_be_removed_whole(path, tmp_path):
    filled(path)
    (tmp_path / "run.sqlite-journal").touch()
    remove_record(path)
    remove_record(path)  # none is left, and that is as it should be
    assert list(tmp_path.iterdir()) == []


def test_a_fingerprint_differs_where_the_content_does():
    assert fingerprint({"a": [1, 2]}) == fingerprint({"a": (1, 2)})
    assert fingerprint([0.1]) != fingerprint([0.1 + 1e-17 + 2e-17])
